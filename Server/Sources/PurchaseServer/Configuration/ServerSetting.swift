import AppStoreConnection
import Foundation
import Logging
import PurchaseLedger
import PurchaseVerification

/// The settings of the server; those of an app are in `AppSettings.table`.
package enum ServerSetting {
    package typealias Setting = PurchaseServer.Setting<ServerConfiguration>

    package static let host = Setting(
        "server.host", "127.0.0.1", "The address to listen on", option: "--host", restarts: true, \.host,
        .parsed("Write an address such as 127.0.0.1 or ::1, or the name of a host, without a port") { text in
            let isName = text.wholeMatch(of: /[A-Za-z0-9._-]*[A-Za-z][A-Za-z0-9._-]*/) != nil
            return isName || AddressRange.bytes(of: text) != nil ? text : nil
        })
    package static let port = Setting(
        "server.port", "8080", "The port to listen on; 0 selects a free one", option: "--port", restarts: true, \.port,
        .number(0...65_535))
    package static let tlsCertificate = Setting(
        "server.tls.certificate", "none",
        "The file with the server's certificate and those that lead to its authority, in PEM; without it, HTTP has no TLS, which only a restart changes",
        option: "--tls-certificate", restarts: false, differs: { ($0.tls == nil) != ($1.tls == nil) }
    ) { entry, _, configuration throws(SettingFault) in
        let path = entry.path(try entry.text())
        if let files = entry.files { _ = try ServerCertificate.chain(path, files) }
        configuration.tlsFiles.certificate = path
    }
    package static let tlsKey = Setting(
        "server.tls.key", "none", "The file of the certificate's private key, in PEM, of mode 0600",
        option: "--tls-key"
    ) { entry, _, configuration throws(SettingFault) in
        let path = entry.path(try entry.text())
        if let files = entry.files { _ = try ServerCertificate.key(path, files) }
        configuration.tlsFiles.key = path
    }
    package static let admin = Setting(
        "server.admin", "127.0.0.1:8081",
        "Where operators reach metrics and health: HOST:PORT, the path of a socket, or off; with port 0, the default is a free port",
        option: "--admin",
        differs: { $0.admin != $1.admin && !($0.isAdminStandard && $1.isAdminStandard) }
    ) { entry, _, configuration throws(SettingFault) in
        configuration.admin = try SettingForm<AdminAddress>.parsed(
            "Write HOST:PORT, such as 127.0.0.1:8081, an absolute path of a socket, or off", { AdminAddress($0) }
        ).read(entry)
    }
    package static let database = Setting(
        "server.database", "sqlite:assay.sqlite", "The database, as sqlite:PATH or postgres://…", option: "--database",
        restarts: true, \.database, .database)
    package static let trust = Setting(
        "server.trust", "none", "Certificates to trust besides Apple's roots, in DER or PEM", option: "--trust",
        isList: true
    ) { entry, _, configuration throws(SettingFault) in
        configuration.anchors = TrustAnchor.apple
        let read = try entry.each { path throws(SettingFault) in
            try entry.files.map { files throws(SettingFault) in try files.anchors(entry.path(path)) } ?? []
        }
        configuration.anchors += read.joined()
    }
    package static let environments = Setting(
        "server.environments", "Production, Sandbox",
        "The environments that verifyReceipt accepts: Production, Sandbox, Xcode or another name",
        option: "--environment", \.environments, .environments)
    /// A secret is never given on the command line, where every user of the machine could read it.
    package static let sharedSecret = Setting(
        "server.shared_secret_file", "none",
        "The file with a shared secret for all apps; the variable holds the secret itself",
        option: "--shared-secret-file", variable: "ASSAY_SHARED_SECRET"
    ) { entry, _, configuration throws(SettingFault) in
        let text = try entry.text()
        configuration.sharedSecret =
            try entry.place == .environment ? text : entry.files?.secret(entry.path(text))
    }
    package static let answerKey = Setting(
        "server.answer_key_file", "none",
        "The file of the key that signs answers to apps; all servers that apps reach share it", option: "--answer-key"
    ) { entry, _, configuration throws(SettingFault) in
        let path = entry.path(try entry.text())
        configuration.answerKeyFile = path
        guard let files = entry.files else { return }
        let remedy = "Name the file that assay keys signing --for answers makes"
        do throws(SettingFault) {
            configuration.answerSigner = AnswerSigner(text: try files.secret(path))
        } catch {
            throw SettingFault("'\(path)' \(error.fault)", remedy, error.code)
        }
        guard configuration.answerSigner != nil else {
            throw SettingFault("'\(path)' is not such a key", remedy, .file)
        }
    }
    package static let trustedProxies = Setting(
        "server.trusted_proxies", "none", "Proxies whose X-Forwarded-For is believed, as addresses or ranges",
        option: "--trusted-proxy", variable: "ASSAY_TRUSTED_PROXIES", \.trustedProxies, .proxies)
    package static let logLevel = Setting(
        "server.log_level", "info", "How much is logged: trace, debug, info, notice, warning, error or critical",
        option: "--log-level", restarts: true, \.logLevel, .choice)
    package static let logFormat = Setting(
        "server.log_format", "text", "The format of the log: text or json, one object per line",
        option: "--log-format", restarts: true, \.logFormat, .choice)
    package static let entryKey = Setting(
        "record.entry_key", "assay-entries.key",
        "The file of the key that authenticates journal entries; all servers of a database share it",
        option: "--entry-key", restarts: true, \.record.entryKey, .path)
    package static let signingKey = Setting(
        "record.signing_key", "assay-log.key",
        "The file of the key that signs checkpoints of the log; each server has its own", option: "--signing-key",
        restarts: true, \.record.signingKey, .path)
    package static let origin = Setting(
        "record.origin", "random", "The name of the log, such as example.com/assay, for a new signing key",
        option: "--origin", restarts: true, \.record.origin,
        .parsed("Write a name without spaces and plus signs: example.com/assay") {
            LogSigningKey.isOrigin($0) ? $0 : nil
        })
    package static let checkpoints = Setting(
        "record.checkpoints", "none", "Where checkpoints of the log go: a file, a URL, or - for standard output",
        option: "--checkpoints", restarts: true, \.record.checkpoints, .checkpoints)

    private static let bytes: ClosedRange<Int64> = 1...1 << 30
    private static let count: ClosedRange<Int64> = 1...1_000_000
    private static let percent: ClosedRange<Int64> = 1...100
    private static let seconds: ClosedRange<Int64> = 1...86_400

    package static let bodyBytes = Setting(
        "limits.body_bytes", "17825792", "The largest request body, in bytes", option: "--max-body-bytes",
        \.limits.bodyBytes, .number(bytes))
    package static let apiBodyBytes = Setting(
        "limits.api_body_bytes", "1048576",
        "The largest body of a request to /v1, in bytes; at most limits.body_bytes counts",
        option: "--max-api-body-bytes", \.limits.apiBodyBytes, .number(bytes))
    package static let connections = Setting(
        "limits.connections", "4096", "The maximum number of connections", option: "--max-connections",
        restarts: true, \.limits.connections, .number(count))
    package static let connectionsPerAddress = Setting(
        "limits.connections_per_address", "512",
        "The maximum number of connections of one IPv4 address, or of one /64 network of IPv6",
        option: "--max-connections-per-address", \.limits.connectionsPerAddress, .number(count))
    private static let connectionsPerNetwork = Setting(
        "limits.connections_per_network", "2048",
        "The maximum number of connections of one /24 network of IPv4, or of one /48 network of IPv6",
        \.limits.connectionsPerNetwork, .number(count))
    private static let uncountedAddresses = Setting(
        "limits.uncounted_addresses", "127.0.0.0/8, ::1",
        "Addresses whose connections and requests with a client key are not counted by address, besides trusted proxies",
        \.limits.uncountedAddresses, .ranges)
    package static let requestSeconds = Setting(
        "limits.request_seconds", "30", "The time limit for a request to arrive, in seconds",
        option: "--request-seconds", \.limits.requestSeconds, .number(seconds))
    package static let idleSeconds = Setting(
        "limits.idle_seconds", "60", "How long a connection may wait for its next request, in seconds",
        option: "--idle-seconds", \.limits.idleSeconds, .number(seconds))
    private static let mergeOriginals = Setting(
        "limits.merge_originals", "5000",
        "The greatest number of purchases of a customer whom a request merges into another; a greater merge holds all writes",
        \.limits.mergeOriginals, .number(1...1_000_000_000))
    private static let addressPercentOfKey = Setting(
        "limits.per_key.address_percent", "2",
        "The percentage of the rate of a key with the scope client that one IPv4 address, or one /64 network of IPv6, may use",
        \.limits.addressPercentOfKey, .number(percent))
    private static let networkPercentOfKey = Setting(
        "limits.per_key.network_percent", "20", "The same for one /24 network of IPv4, or one /48 network of IPv6",
        \.limits.networkPercentOfKey, .number(percent))
    private static let verifyReceiptProduction = Setting(
        "app_store.verify_receipt_production", "https://buy.itunes.apple.com/verifyReceipt",
        "The address of verifyReceipt for claims of apps with mode apple or both, for production", restarts: true,
        \.appStore.verifyReceiptProduction, .appStoreURL("https://HOST/verifyReceipt"))
    private static let verifyReceiptSandbox = Setting(
        "app_store.verify_receipt_sandbox", "https://sandbox.itunes.apple.com/verifyReceipt",
        "The same for the sandbox", restarts: true, \.appStore.verifyReceiptSandbox,
        .appStoreURL("https://HOST/verifyReceipt"))
    private static let serverAPIProduction = Setting(
        "app_store.server_api_production", "https://api.storekit.apple.com",
        "The address of the App Store Server API for production", restarts: true, \.appStore.serverAPIProduction,
        .appStoreURL("https://HOST"))
    private static let serverAPISandbox = Setting(
        "app_store.server_api_sandbox", "https://api.storekit-sandbox.apple.com", "The same for the sandbox",
        restarts: true, \.appStore.serverAPISandbox, .appStoreURL("https://HOST"))
    private static let serverAPILimit = Setting(
        "app_store.server_api_limit_percent", "100",
        "The percentage of Apple's limits that this server uses; 50 for each of two servers with the same keys; above 100 with a simulator only",
        restarts: true, \.appStore.serverAPILimitPercent, .number(1...100_000))
    private static let groupEnvironments = Setting(
        "app_store.group_environments", "Sandbox",
        "Where Apple has the calls of groups and seats: Production, Sandbox or both", restarts: true,
        \.appStore.groupEnvironments,
        SettingForm(isList: true) { entry throws(SettingFault) in
            let environments = try SettingForm.environments.read(entry)
            guard !environments.isEmpty, environments.isSubset(of: [.production, .sandbox]) else {
                throw SettingFault(
                    "names '\(environments.map(\.name).sorted().joined(separator: ", "))'",
                    "Write Production, Sandbox or both")
            }
            return environments
        })
    private static let appStoreTrust = Setting(
        "app_store.tls_trust", "none",
        "The certificate authorities in PEM that are trusted for these addresses, instead of the system's",
        restarts: true, \.appStore.tlsTrust, .authorities)
    private static let appStoreWait = Setting(
        "app_store.wait_hours", "72", "The maximum hours a claim waits for the App Store's answer", restarts: true,
        \.appStore.waitHours, .number(1...8760))

    /// All of them, in the order of the documentation. A burst follows its rate, because the rate also sets a burst.
    package static let all: [Setting] =
        [
            host, port, tlsCertificate, tlsKey, admin, database, trust, environments, sharedSecret, answerKey,
            trustedProxies, logLevel, logFormat, entryKey, signingKey, origin, checkpoints, bodyBytes, apiBodyBytes,
            connections, connectionsPerAddress, connectionsPerNetwork, uncountedAddresses, requestSeconds, idleSeconds,
            mergeOriginals,
        ] + rate("limits.per_key", \.limits.perKey, 1000, 2000, "requests to /v1 with one key")
        + [addressPercentOfKey, networkPercentOfKey]
        + rate(
            "limits.per_address", \.limits.perAddress, 50_000, 100_000,
            "requests to /v1 and verifyReceipt from one address")
        + rate(
            "limits.wrong_secrets", \.limits.wrongSecrets, 1, 20, "wrong shared secrets from one address, for each app")
        + [
            verifyReceiptProduction, verifyReceiptSandbox, serverAPIProduction, serverAPISandbox, serverAPILimit,
            groupEnvironments, appStoreTrust, appStoreWait,
        ]

    /// The settings of the server, for the documentation.
    package static var rows: [SettingRow] { Setting.rows(all) }

    /// The settings of an app, for the documentation.
    package static var appRows: [SettingRow] {
        PurchaseServer.Setting<AppSettings>.rows(AppSettings.table, below: "apps.NAME.")
    }

    /// A rate: the number per second, and the number at once after a pause, which defaults to twice the first.
    private static func rate(
        _ name: String, _ limit: any WritableKeyPath<ServerConfiguration, RateLimit> & Sendable, _ perSecond: Int,
        _ burst: Int, _ what: String
    ) -> [Setting] {
        [
            Setting("\(name).per_second", "\(perSecond)", "How many \(what) are accepted per second") {
                entry, _, configuration throws(SettingFault) in
                let rate = try SettingForm<Double>.number(count).read(entry)
                configuration[keyPath: limit] = RateLimit(perSecond: rate, burst: rate * 2)
            },
            Setting("\(name).burst", "\(burst)", "How many \(what) are accepted at once after a pause") {
                entry, _, configuration throws(SettingFault) in
                configuration[keyPath: limit].burst = try SettingForm<Double>.number(count).read(entry)
            },
        ]
    }
}

extension SettingForm where Value == String {
    fileprivate static var database: Self {
        Self { entry throws(SettingFault) in
            let (text, scheme) = (try entry.text(), "sqlite:")
            if LedgerDatabases.isPostgreSQL(text) { return text }
            guard text.hasPrefix(scheme), ![scheme, "sqlite::memory:"].contains(text) else {
                // What follows another scheme can be a URL with a password.
                let other = "begins with '\(text.prefix { $0 != ":" && $0 != "/" }.prefix(32))'"
                throw SettingFault(
                    text.hasPrefix(scheme) ? "is '\(text)'" : other,
                    "Write sqlite:PATH, such as sqlite:/var/lib/assay/assay.sqlite, or postgres://HOST/DATABASE")
            }
            return scheme + entry.path(String(text.dropFirst(scheme.count)))
        }
    }

    fileprivate static func appStoreURL(_ form: String) -> Self {
        Self { entry throws(SettingFault) in
            let text = try entry.text()
            do throws(AppStoreConnectionSettingsError) {
                return try AppStoreConnectionSettings.url(text).absoluteString
            } catch {
                throw SettingFault("is wrong: \(error)", "Write \(form), or http with a loopback address")
            }
        }
    }

    /// A file with authorities in PEM.
    fileprivate static var authorities: Self {
        Self { entry throws(SettingFault) in
            let path = entry.path(try entry.text())
            if let files = entry.files { try AppStoreSettings.checkTrust(path, files) }
            return path
        }
    }
}

extension SettingForm where Value == [CheckpointPlace] {
    fileprivate static var checkpoints: Self {
        Self(isList: true) { entry throws(SettingFault) in
            var places: [CheckpointPlace] = []
            for text in try entry.texts() {
                let isPath = text != "-" && !CheckpointPlace.isURL(text)
                // The text can have a password.
                guard let place = CheckpointPlace(isPath ? entry.path(text) : text) else {
                    throw SettingFault(
                        "has a value that is neither a file nor a URL without a user",
                        "Write a file, https://example.com/checkpoint, or -")
                }
                places.append(place)
            }
            return places
        }
    }
}
