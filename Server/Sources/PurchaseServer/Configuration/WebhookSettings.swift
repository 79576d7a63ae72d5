import Foundation
import NIOSSL
import PurchaseLedger
import PurchaseVerification
import Yams

/// A receiver of an app's events or notifications, before the files and variables that it names are read.
struct WebhookSettings: Sendable {
    private var url: String?
    /// Each is `file:PATH`, `env:NAME` or the secret itself.
    private var secrets: [String] = []
    private var allowedHosts: Set<String> = []
    /// The path of the certificates that are trusted instead of the system's.
    private var trust: String?
    /// The path of the credentials of a user of NATS.
    private var credentials: String?

    private static let urlForm = "https://HOST/PATH, without user, password and fragment"
    private static let natsForm = "nats://HOST:4222/SUBJECT or tls://HOST:4222/SUBJECT, without wildcards and query"

    private static func url(_ form: String) -> Setting<WebhookSettings> {
        Setting("url", "required", form) { entry, _, webhook in
            // A wrong URL is not repeated: it can have a secret in it.
            webhook.url = entry.node.scalar?.string
        }
    }

    private static let shared: [Setting<WebhookSettings>] = [
        Setting(
            "allow_hosts", "none", "Hosts for which clear text and addresses that are not public are allowed",
            isList: true
        ) {
            entry, _, webhook throws(SettingFault) in
            webhook.allowedHosts = Set(try entry.texts().map { $0.lowercased() })
        },
        Setting(
            "tls_trust", "none", "The certificates in PEM that are trusted instead of the system's", \.trust, .path),
    ]

    /// The settings of a forward, which nothing signs again.
    private static let forwardTable = [url(urlForm)] + shared

    private static let table =
        [url("\(urlForm), or \(natsForm)")] + shared + [
            Setting<WebhookSettings>(
                "secrets", "required",
                "whsec_ and 24 to 64 bytes in base64, or file:PATH or env:NAME of such a secret; two while they are exchanged; not required for NATS",
                \.secrets, .texts),
            Setting(
                "credentials_file", "none", "The .creds file of a user of NATS, of mode 0600", \.credentials, .path),
        ]

    static let rows: [Setting<AppSettings>] = [
        Setting(
            "webhooks", "none", "A list of the receivers of its events (webhooks.md)",
            inner: Setting<WebhookSettings>.rows(table, below: "[].")
        ) { entry, reader, app in
            for item in reader.items(entry, "that begin with - url:") {
                var settings = WebhookSettings()
                let given = reader.read(table, item, into: &settings)
                settings.add(to: &app, .events, item, given, &reader)
            }
        },
        Setting(
            "forward", "none",
            "The URLs that Apple's notifications are forwarded to unchanged (notifications.md), by environment: a URL, or a list of URLs or mappings",
            inner: Setting<WebhookSettings>.rows(forwardTable, below: ".ENVIRONMENT[].")
        ) { entry, reader, app in
            for receivers in reader.entries(entry) { forward(receivers, entry, &reader, &app) }
        },
    ]

    private static func forward(
        _ receivers: SettingEntry, _ entry: SettingEntry, _ reader: inout SettingsReader, _ app: inout AppSettings
    ) {
        let environment = AppStoreEnvironment(anyCase: receivers.key)
        guard app.app.environments.contains(environment) else {
            return reader.note(
                receivers.place, "\(entry.name) names '\(receivers.key)', which is not among its environments",
                "Write one of \(app.app.environments.map(\.name).sorted().joined(separator: ", ")), or add it to environments"
            )
        }
        let isOne = receivers.node.scalar != nil && receivers.node.null == nil
        guard isOne || receivers.node.sequence != nil else {
            return reader.note(
                receivers, SettingFault("is neither a URL nor a list", "Write \(receivers.key): [https://HOST/PATH]"))
        }
        for item in isOne ? [receivers] : reader.items(receivers, "") {
            var (settings, given) = (WebhookSettings(), [String: SettingEntry]())
            if item.node.scalar != nil {
                settings.url = item.node.scalar?.string
            } else {
                given = reader.read(forwardTable, item, into: &settings)
            }
            settings.add(to: &app, .notifications(environment), item, given, &reader)
        }
    }

    /// Adds the receiver to those of the app, and notes what is wrong.
    private func add(
        to app: inout AppSettings, _ stream: WebhookStream, _ entry: SettingEntry, _ given: [String: SettingEntry],
        _ reader: inout SettingsReader
    ) {
        let place = given["url"]?.place ?? entry.place
        let (noun, what) = stream == .events ? ("webhook", "events") : ("forward", "notifications")
        let name = "\(noun) of \(app.app.id)"
        reader.namedVariables.formUnion(secrets.filter { $0.hasPrefix("env:") }.map { String($0.dropFirst(4)) })
        // Whatever the URL is, the rest of the entry is read, too.
        let url = url.flatMap { WebhookURL($0) }.flatMap { stream == .events || !$0.isNATS ? $0 : nil }
        if let url {
            check(url, app, stream, entry, given, &reader)
        } else {
            reader.note(
                place, "a \(name) has no url that \(what) can be sent to",
                stream == .events
                    ? "Write url: \(Self.urlForm), or \(Self.natsForm)"
                    : "Write https://HOST/PATH, or url: \(Self.urlForm)", .missing)
        }
        let least = url.map { $0.isNATS ? 0 : 1 } ?? 0
        if stream == .events, !(least...Webhook.secretLimit).contains(secrets.count) {
            reader.note(
                given["secrets"]?.place ?? entry.place, "a \(name) has \(secrets.count) secrets",
                "Write one, or two while they are exchanged", .missing)
        }
        func read<Value>(_ body: () throws(SettingFault) -> Value?) -> Value? {
            do throws(SettingFault) {
                return try body()
            } catch {
                reader.note(
                    entry.place, "a \(name) has a wrong setting: \(error.fault)", error.remedy, error.code)
                return nil
            }
        }
        let known = secrets.compactMap { reference in
            read { () throws(SettingFault) in try Self.secret(reference, entry) }
        }
        let trusted = read { () throws(SettingFault) in try certificates(entry.files) }
        let signIn = read { () throws(SettingFault) in try user(entry.files) }
        guard let url else { return }
        app.webhooks.append(
            Webhook(
                app: app.app.id, stream, url: url, secrets: known, allowedHosts: allowedHosts, trust: trusted,
                credentials: signIn))
    }

    /// Notes what is wrong with the receiver's URL, alone and beside other settings.
    private func check(
        _ url: WebhookURL, _ app: AppSettings, _ stream: WebhookStream, _ entry: SettingEntry,
        _ given: [String: SettingEntry], _ reader: inout SettingsReader
    ) {
        let place = given["url"]?.place ?? entry.place
        let noun = stream == .events ? "webhook" : "forward"
        let name = "\(noun) of \(app.app.id)"
        if !url.isSecure, !allowedHosts.contains(url.host), !url.isLocalNATS {
            let exception = stream == .events ? "" : "{ url: …, "
            reader.note(
                place, "the url of a \(name) begins with \(url.isNATS ? "nats" : "http")",
                "Write \(url.isNATS ? "tls" : "https"), or \(exception)allow_hosts: [\(url.host)]\(exception.isEmpty ? "" : " }") if nobody can read what is sent there"
            )
        }
        if url.isNATS, !url.isSecure, trust != nil {
            reader.note(
                given["tls_trust"]?.place ?? place, "a \(name) has tls_trust, and nats:// has no certificate",
                "Write tls://, or remove tls_trust", .conflict)
        }
        if !url.isNATS, credentials != nil {
            reader.note(
                given["credentials_file"]?.place ?? place, "a \(name) has credentials_file, which is for NATS alone",
                "Remove it, or write url: \(Self.natsForm)", .conflict)
        }
        if url.isNATS, !url.isSecure, !url.isLocalNATS, credentials != nil {
            reader.note(
                given["credentials_file"]?.place ?? place,
                "a \(name) has credentials_file, and nats:// would show them to others", "Write tls://", .conflict)
        }
        if url.isNATS,
            app.webhooks.contains(where: {
                $0.url.isNATS && ($0.url.host, $0.url.port) == (url.host, url.port) && $0.url.target != url.target
            })
        {
            // JetStream knows a message of its stream by the id alone, whatever its subject.
            reader.note(
                entry.place, "two webhooks of \(app.app.id) have subjects of one server of NATS",
                "Keep one; a stream would take the second message of an event for a repeat of the first", .conflict)
        }
        if app.webhooks.contains(where: { $0.stream == stream && $0.url.isSame(as: url) }) {
            let environment =
                if case .notifications(let environment) = stream { " for \(environment.name)" } else { "" }
            reader.note(
                entry.place, "two \(noun)s of \(app.app.id)\(environment) have the same url",
                stream == .events ? "Keep one; two secrets fit in it" : "Keep one", .conflict)
        }
    }

    /// A secret; `nil` if no files are read. No error contains its text.
    private static func secret(_ reference: String, _ entry: SettingEntry) throws(SettingFault) -> WebhookSecret? {
        let form = "Write whsec_ and 24 to 64 bytes in base64, or file:PATH or env:NAME of such a secret"
        guard let files = entry.files else { return nil }
        var text = reference
        if reference.hasPrefix("file:") {
            do throws(SettingFault) {
                text = try files.secret(entry.path(String(reference.dropFirst("file:".count))))
            } catch {
                throw SettingFault("secrets: a file \(error.fault)", form, error.code)
            }
        } else if reference.hasPrefix("env:") {
            let name = String(reference.dropFirst("env:".count))
            guard let value = files.variable(name) else {
                throw SettingFault("secrets: the variable \(name) is not set", form, .variable)
            }
            text = value
        }
        guard let secret = WebhookSecret(text) else {
            throw SettingFault("secrets: an entry is not a secret of Standard Webhooks", form)
        }
        return secret
    }

    private func certificates(_ files: NamedFiles?) throws(SettingFault) -> [UInt8]? {
        guard let trust, let files else { return nil }
        let remedy = "Name a file with certificates in PEM"
        let bytes: [UInt8]
        do throws(SettingFault) {
            bytes = try files.bytes(trust)
        } catch {
            throw SettingFault("tls_trust: \(error.fault)", remedy, error.code)
        }
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
            throw SettingFault("tls_trust: '\(trust)' has no certificates", remedy, .file)
        }
        return bytes
    }

    private func user(_ files: NamedFiles?) throws(SettingFault) -> NATSCredentials? {
        guard let credentials, let files else { return nil }
        let remedy = "Name the .creds file of a user of NATS, of mode 0600"
        let text: String
        do throws(SettingFault) {
            text = try files.privateKey(credentials)
        } catch {
            throw SettingFault("credentials_file: \(error.fault)", remedy, error.code)
        }
        guard let user = NATSCredentials(text) else {
            throw SettingFault("credentials_file: '\(credentials)' has no user JWT and seed", remedy, .file)
        }
        return user
    }
}
