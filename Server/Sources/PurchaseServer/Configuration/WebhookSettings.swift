import Crypto
import Foundation
import NIOSSL
import PurchaseLedger
import PurchaseVerification
import Yams

/// A webhook as the settings file describes it, before the files and variables that it names are read.
package struct WebhookSettings: Sendable {
    /// What it gets.
    let stream: WebhookStream
    let url: WebhookURL
    /// None if it gets notifications; otherwise each `file:PATH`, `env:NAME` or the secret itself.
    let secrets: [String]
    let allowedHosts: Set<String>
    /// The path of the certificates that are trusted instead of the system's.
    let trust: String?

    private static let form = "Write whsec_ and 24 to 64 bytes in base64, or file:PATH or env:NAME of such a secret"

    /// The name of its kind in errors.
    var noun: String { stream == .events ? "webhook" : "forward" }

    /// The webhook, with its secrets and certificates.
    func webhook(app: String, _ files: NamedFiles) throws(SettingFault) -> Webhook {
        var secrets: [WebhookSecret] = []
        for reference in self.secrets { secrets.append(try Self.secret(reference, files)) }
        return Webhook(
            app: app, stream, url: url, secrets: secrets, allowedHosts: allowedHosts, trust: try certificates(files))
    }

    /// No error contains the text of a secret.
    private static func secret(_ reference: String, _ files: NamedFiles) throws(SettingFault) -> WebhookSecret {
        var text: String? = reference
        if reference.hasPrefix("file:") {
            do {
                text = try files.secret(String(reference.dropFirst("file:".count)))
            } catch {
                throw SettingFault("secrets: a file \(error.fault)", form)
            }
        } else if reference.hasPrefix("env:") {
            let name = String(reference.dropFirst("env:".count))
            text = files.variable(name)
            guard text != nil else { throw SettingFault("secrets: the variable \(name) is not set", form) }
        }
        guard let secret = text.flatMap({ WebhookSecret($0) }) else {
            throw SettingFault("secrets: an entry is not a secret of Standard Webhooks", form)
        }
        return secret
    }

    private func certificates(_ files: NamedFiles) throws(SettingFault) -> [UInt8]? {
        guard let trust else { return nil }
        let bytes: [UInt8]
        do throws(SettingFault) {
            bytes = try files.bytes(trust)
        } catch {
            throw SettingFault("tls_trust: \(error.fault)", "Name a file with certificates in PEM")
        }
        do {
            guard try !NIOSSLCertificate.fromPEMBytes(bytes).isEmpty else { throw NIOSSLError.failedToLoadCertificate }
        } catch {
            throw SettingFault("tls_trust: '\(trust)' has no certificates", "Name a file with certificates in PEM")
        }
        return bytes
    }
}

extension SettingsReader {
    mutating func webhooks(_ section: inout SettingsSection, app: String) -> [WebhookSettings] {
        guard let entry = section.take("webhooks") else { return [] }
        guard let nodes = entry.value.sequence else {
            note(entry.line, "webhooks is not a list", "Write webhooks: followed by entries that begin with - url:")
            return []
        }
        var webhooks: [WebhookSettings] = []
        for node in nodes {
            guard let webhook = webhook(node, app: app) else { continue }
            if webhooks.contains(where: { $0.url.isSame(as: webhook.url) }) {
                note(node.mark?.line, "two webhooks of \(app) have the same url", "Keep one; two secrets fit in it")
            }
            webhooks.append(webhook)
        }
        return webhooks
    }

    private mutating func webhook(_ node: Node, app: String) -> WebhookSettings? {
        var section = section(node, "webhooks of \(app)")
        let line = node.mark?.line
        let text = text(&section, "url")
        let secrets = texts(&section, "secrets").map { reference in
            let scheme = "file:"
            guard reference.hasPrefix(scheme) else { return reference }
            return scheme + resolved(String(reference.dropFirst(scheme.count)), .whole)
        }
        let (allowed, trust) = exceptions(&section)
        finish(section)
        let urlLine = section.lines["url"] ?? line
        guard let text, let url = WebhookURL(text) else {
            // The URL is not repeated: it can have a secret in it.
            note(
                urlLine, "a webhook of \(app) has no url that events can be sent to",
                "Write url: https://HOST/PATH, without user, password and fragment")
            return nil
        }
        if !url.isHTTPS, !allowed.contains(url.host) {
            note(
                urlLine, "the url of a webhook of \(app) begins with http",
                "Write https, or allow_hosts: [\(url.host)] if nobody can read what is sent there")
        }
        guard (1...Webhook.secretLimit).contains(secrets.count) else {
            note(
                section.lines["secrets"] ?? line, "a webhook of \(app) has \(secrets.count) secrets",
                "Write one, or two while they are exchanged")
            return nil
        }
        let settings = WebhookSettings(
            stream: .events, url: url, secrets: secrets, allowedHosts: allowed, trust: trust)
        check(settings, app: app, line)
        return settings
    }

    /// `allow_hosts` and `tls_trust`.
    mutating func exceptions(_ section: inout SettingsSection) -> (allowedHosts: Set<String>, trust: String?) {
        let hosts = section.lines["allow_hosts"] == nil ? [] : texts(&section, "allow_hosts")
        section.known.append("allow_hosts")
        return (
            Set(hosts.map { $0.lowercased() }), self.text(&section, "tls_trust").map { resolved($0, .whole) }
        )
    }

    /// Notes what is wrong in the files that it names.
    mutating func check(_ settings: WebhookSettings, app: String, _ line: Int?) {
        guard let files = surroundings.files else { return }
        do throws(SettingFault) {
            _ = try settings.webhook(app: app, files)
        } catch {
            note(line, "a \(settings.noun) of \(app) has a wrong setting: \(error.fault)", error.remedy)
        }
    }
}

/// A secret of the Standard Webhooks form: `whsec_` and 24 to 64 bytes in base64. Its text is never printed.
public struct WebhookSecret: Sendable, Equatable, CustomStringConvertible {
    private let bytes: [UInt8]

    private static let prefix = "whsec_"
    /// Standard Webhooks, "Signature scheme": between 24 and 64 bytes.
    private static let sizes = 24...64

    /// A secret; `nil` for a text of another form.
    public init?(_ text: String) {
        guard text.utf8.starts(with: Self.prefix.utf8),
            let data = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))), Self.sizes.contains(data.count)
        else { return nil }
        bytes = [UInt8](data)
    }

    public var description: String { "whsec_…" }

    /// Base64 of the HMAC-SHA256 of a message: its id, its time and its body, with a period between them.
    func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        var hash = HMAC<SHA256>(key: SymmetricKey(data: bytes))
        hash.update(data: Data("\(id).\(timestamp).".utf8))
        hash.update(data: body)
        return Data(hash.finalize()).base64EncodedString()
    }
}
