import AppStoreConnection
import Foundation
import Logging
import PurchaseLedger
import PurchaseVerification

/// The settings, each in one line of the table; `assay serve --help` and docs/settings.md list the same
/// settings.
extension ServerSetting {
    package static let host = ServerSetting(
        "server.host", variable: "ASSAY_HOST", option: "--host", default: "127.0.0.1", "The address to listen on"
    ) { value, _, configuration throws(SettingFault) in configuration.host = value.text }

    package static let port = ServerSetting(
        "server.port", variable: "ASSAY_PORT", option: "--port", default: "8080",
        "The port to listen on; 0 selects a free one"
    ) { value, _, configuration throws(SettingFault) in
        configuration.port = Int(try number(value, in: 0...65_535))
    }

    package static let tlsCertificate = ServerSetting(
        "server.tls.certificate", variable: "ASSAY_TLS_CERTIFICATE", option: "--tls-certificate", default: "none",
        "The file with the server's certificate and those that lead to its authority, in PEM; without it, HTTP has no TLS",
        path: .whole
    ) { value, files, configuration throws(SettingFault) in
        _ = try ServerCertificate.chain(value.text, files)
        configuration.tlsFiles.certificate = value.text
    }

    package static let tlsKey = ServerSetting(
        "server.tls.key", variable: "ASSAY_TLS_KEY", option: "--tls-key", default: "none",
        "The file of the certificate's private key, in PEM, of mode 0600", path: .whole
    ) { value, files, configuration throws(SettingFault) in
        _ = try ServerCertificate.key(value.text, files)
        configuration.tlsFiles.key = value.text
    }

    package static let admin = ServerSetting(
        "server.admin", variable: "ASSAY_ADMIN", option: "--admin", default: "127.0.0.1:8081",
        "Where operators reach metrics and health: HOST:PORT, the path of a socket, or off; with port 0, the default is a free port"
    ) { value, _, configuration throws(SettingFault) in
        guard let address = AdminAddress(value.text) else {
            throw SettingFault(
                "is '\(value.text)'", "Write HOST:PORT, such as 127.0.0.1:8081, an absolute path of a socket, or off")
        }
        configuration.admin = address
    }

    package static let database = ServerSetting(
        "server.database", variable: "ASSAY_DATABASE", option: "--database", default: "sqlite:assay.sqlite",
        "The database, as sqlite:PATH or postgres://…", path: .database
    ) { value, _, configuration throws(SettingFault) in
        let isFile = value.text.hasPrefix("sqlite:") && !["sqlite:", "sqlite::memory:"].contains(value.text)
        guard isFile || LedgerDatabases.isPostgreSQL(value.text) else {
            throw SettingFault(
                "is '\(value.text)'",
                "Write sqlite:PATH, such as sqlite:/var/lib/assay/assay.sqlite, or postgres://HOST/DATABASE")
        }
        configuration.database = value.text
    }

    package static let trust = ServerSetting(
        "server.trust", variable: "ASSAY_TRUST", option: "--trust", default: "none",
        "Certificates to trust besides Apple's roots, in DER or PEM", isList: true, path: .whole
    ) { value, files, configuration throws(SettingFault) in
        configuration.anchors = TrustAnchor.apple
        for path in value.texts { configuration.anchors += try files.anchors(path) }
    }

    package static let environments = ServerSetting(
        "server.environments", variable: "ASSAY_ENVIRONMENT", option: "--environment", default: "Production, Sandbox",
        "The environments that verifyReceipt accepts: Production, Sandbox, Xcode or another name", isList: true
    ) { value, _, configuration throws(SettingFault) in
        configuration.environments = Set(value.texts.map(AppStoreEnvironment.init(anyCase:)))
    }

    /// A secret is never given on the command line, where every user of the machine could read it.
    package static let sharedSecret = ServerSetting(
        "server.shared_secret_file", variable: "ASSAY_SHARED_SECRET", option: "--shared-secret-file", default: "none",
        "The file with a shared secret for all apps; the variable holds the secret itself", path: .whole
    ) { value, files, configuration throws(SettingFault) in
        configuration.sharedSecret = value.isFromEnvironment ? value.text : try files.secret(value.text)
    }

    package static let answerKey = ServerSetting(
        "server.answer_key_file", variable: "ASSAY_ANSWER_KEY", option: "--answer-key", default: "none",
        "The file of the key that signs answers to apps; all servers that apps reach share it", path: .whole
    ) { value, files, configuration throws(SettingFault) in
        let remedy = "Name the file that assay keys signing --for answers makes"
        let text: String
        do throws(SettingFault) {
            text = try files.secret(value.text)
        } catch {
            throw SettingFault("'\(value.text)' \(error.fault)", remedy)
        }
        // Commands that do not answer read no file.
        guard !text.isEmpty else { return }
        guard let signer = AnswerSigner(text: text) else {
            throw SettingFault("'\(value.text)' is not such a key", remedy)
        }
        configuration.answerSigner = signer
    }

    package static let trustedProxies = ServerSetting(
        "server.trusted_proxies", variable: "ASSAY_TRUSTED_PROXIES", option: "--trusted-proxy", default: "none",
        "Proxies whose X-Forwarded-For is believed, as addresses or ranges", isList: true
    ) { value, _, configuration throws(SettingFault) in
        let ranges = try addressRanges(value)
        guard !ranges.contains(where: \.isLargerThanPrivate) else {
            throw SettingFault(
                "believes addresses of the whole internet, so each client could choose the address that is recorded",
                "Write the addresses or the private range of the proxies: 10.0.0.0/8")
        }
        configuration.trustedProxies = ranges
    }

    package static let logLevel = ServerSetting(
        "server.log_level", variable: "ASSAY_LOG_LEVEL", option: "--log-level", default: "info",
        "How much is logged: trace, debug, info, notice, warning, error or critical"
    ) { value, _, configuration throws(SettingFault) in
        guard let level = Logger.Level(rawValue: value.text.lowercased()) else {
            throw SettingFault("is '\(value.text)'", "Choose trace, debug, info, notice, warning, error or critical")
        }
        configuration.logLevel = level
    }

    package static let logFormat = ServerSetting(
        "server.log_format", variable: "ASSAY_LOG_FORMAT", option: "--log-format", default: "text",
        "The format of the log: text or json, one object per line"
    ) { value, _, configuration throws(SettingFault) in
        guard let format = ServerConfiguration.LogFormat(rawValue: value.text.lowercased()) else {
            throw SettingFault("is '\(value.text)'", "Choose text or json")
        }
        configuration.logFormat = format
    }

    package static let entryKey = ServerSetting(
        "record.entry_key", variable: "ASSAY_ENTRY_KEY", option: "--entry-key", default: "assay-entries.key",
        "The file of the key that authenticates journal entries; all servers of a database share it", path: .whole
    ) { value, _, configuration throws(SettingFault) in configuration.record.entryKey = value.text }

    package static let signingKey = ServerSetting(
        "record.signing_key", variable: "ASSAY_SIGNING_KEY", option: "--signing-key", default: "assay-log.key",
        "The file of the key that signs checkpoints of the log; each server has its own", path: .whole
    ) { value, _, configuration throws(SettingFault) in configuration.record.signingKey = value.text }

    package static let origin = ServerSetting(
        "record.origin", variable: "ASSAY_ORIGIN", option: "--origin", default: "random",
        "The name of the log, such as example.com/assay, for a new signing key"
    ) { value, _, configuration throws(SettingFault) in
        guard LogSigningKey.isOrigin(value.text) else {
            throw SettingFault("is '\(value.text)'", "Write a name without spaces and plus signs: example.com/assay")
        }
        configuration.record.origin = value.text
    }

    package static let checkpoints = ServerSetting(
        "record.checkpoints", variable: "ASSAY_CHECKPOINTS", option: "--checkpoints", default: "none",
        "Where checkpoints of the log go: a file, a URL, or - for standard output", isList: true, path: .checkpoints
    ) { value, _, configuration throws(SettingFault) in
        var places: [CheckpointPlace] = []
        for text in value.texts {
            guard let place = CheckpointPlace(text) else {
                // The text can have a password.
                throw SettingFault(
                    "has a value that is neither a file nor a URL without a user",
                    "Write a file, https://example.com/checkpoint, or -")
            }
            places.append(place)
        }
        configuration.record.checkpoints = places
    }

    package static let bodyBytes = ServerSetting(
        "limits.body_bytes", variable: "ASSAY_MAX_BODY_BYTES", option: "--max-body-bytes", default: "17825792",
        "The largest request body, in bytes"
    ) { value, _, configuration throws(SettingFault) in
        configuration.limits.bodyBytes = Int(try number(value, in: 1...1 << 30))
    }

    package static let apiBodyBytes = ServerSetting(
        "limits.api_body_bytes", variable: "ASSAY_MAX_API_BODY_BYTES", option: "--max-api-body-bytes",
        default: "1048576", "The largest body of a request to /v1, in bytes; at most limits.body_bytes counts"
    ) { value, _, configuration throws(SettingFault) in
        configuration.limits.apiBodyBytes = Int(try number(value, in: 1...1 << 30))
    }

    package static let addressPercentOfKey = ServerSetting(
        "limits.per_key.address_percent", default: "2",
        "The percentage of the rate of a key with the scope client that one IPv4 address, or one /64 network of IPv6, may use"
    ) { value, _, configuration throws(SettingFault) in
        configuration.limits.addressPercentOfKey = Double(try number(value, in: 1...100))
    }

    package static let networkPercentOfKey = ServerSetting(
        "limits.per_key.network_percent", default: "20",
        "The same for one /24 network of IPv4, or one /48 network of IPv6"
    ) { value, _, configuration throws(SettingFault) in
        configuration.limits.networkPercentOfKey = Double(try number(value, in: 1...100))
    }

    package static let connections = ServerSetting(
        "limits.connections", variable: "ASSAY_MAX_CONNECTIONS", option: "--max-connections", default: "4096",
        "The maximum number of connections"
    ) { value, _, configuration throws(SettingFault) in
        configuration.limits.connections = Int(try number(value, in: 1...1_000_000))
    }

    package static let connectionsPerAddress = ServerSetting(
        "limits.connections_per_address", variable: "ASSAY_MAX_CONNECTIONS_PER_ADDRESS",
        option: "--max-connections-per-address", default: "512",
        "The maximum number of connections of one IPv4 address, or of one /64 network of IPv6"
    ) { value, _, configuration throws(SettingFault) in
        configuration.limits.connectionsPerAddress = Int(try number(value, in: 1...1_000_000))
    }

    package static let connectionsPerNetwork = ServerSetting(
        "limits.connections_per_network", default: "2048",
        "The maximum number of connections of one /24 network of IPv4, or of one /48 network of IPv6"
    ) { value, _, configuration throws(SettingFault) in
        configuration.limits.connectionsPerNetwork = Int(try number(value, in: 1...1_000_000))
    }

    package static let uncountedAddresses = ServerSetting(
        "limits.uncounted_addresses", default: "127.0.0.0/8, ::1",
        "Addresses whose connections and requests with a client key are not counted by address, besides trusted proxies",
        isList: true
    ) { value, _, configuration throws(SettingFault) in
        configuration.limits.uncountedAddresses = try addressRanges(value)
    }

    package static let requestSeconds = ServerSetting(
        "limits.request_seconds", variable: "ASSAY_REQUEST_SECONDS", option: "--request-seconds", default: "30",
        "The time limit for a request to arrive, in seconds"
    ) { value, _, configuration throws(SettingFault) in
        configuration.limits.requestSeconds = try number(value, in: 1...86_400)
    }

    package static let idleSeconds = ServerSetting(
        "limits.idle_seconds", variable: "ASSAY_IDLE_SECONDS", option: "--idle-seconds", default: "60",
        "How long a connection may wait for its next request, in seconds"
    ) { value, _, configuration throws(SettingFault) in
        configuration.limits.idleSeconds = try number(value, in: 1...86_400)
    }

    package static let mergeOriginals = ServerSetting(
        "limits.merge_originals", default: "5000",
        "The greatest number of purchases of a customer whom a request merges into another; a greater merge holds all writes"
    ) { value, _, configuration throws(SettingFault) in
        configuration.limits.mergeOriginals = Int(try number(value, in: 1...1_000_000_000))
    }

    package static let appStoreProduction = ServerSetting(
        "app_store.verify_receipt_production", default: "https://buy.itunes.apple.com/verifyReceipt",
        "The address of verifyReceipt for claims of apps with mode apple or both, for production"
    ) { value, _, configuration throws(SettingFault) in
        configuration.appStore.verifyReceiptProduction = try appStoreURL(value, "https://HOST/verifyReceipt")
    }

    package static let appStoreSandbox = ServerSetting(
        "app_store.verify_receipt_sandbox", default: "https://sandbox.itunes.apple.com/verifyReceipt",
        "The same for the sandbox"
    ) { value, _, configuration throws(SettingFault) in
        configuration.appStore.verifyReceiptSandbox = try appStoreURL(value, "https://HOST/verifyReceipt")
    }

    package static let appStoreTrust = ServerSetting(
        "app_store.tls_trust", default: "none",
        "The certificate authorities in PEM that are trusted for these addresses, instead of the system's",
        path: .whole
    ) { value, files, configuration throws(SettingFault) in
        try AppStoreSettings.checkTrust(value.text, files)
        configuration.appStore.tlsTrust = value.text
    }

    package static let serverAPIProduction = ServerSetting(
        "app_store.server_api_production", default: "https://api.storekit.apple.com",
        "The address of the App Store Server API for production"
    ) { value, _, configuration throws(SettingFault) in
        configuration.appStore.serverAPIProduction = try appStoreURL(value, "https://HOST")
    }

    package static let serverAPISandbox = ServerSetting(
        "app_store.server_api_sandbox", default: "https://api.storekit-sandbox.apple.com",
        "The same for the sandbox"
    ) { value, _, configuration throws(SettingFault) in
        configuration.appStore.serverAPISandbox = try appStoreURL(value, "https://HOST")
    }

    package static let serverAPILimit = ServerSetting(
        "app_store.server_api_limit_percent", default: "100",
        "The percentage of Apple's limits that this server uses; 50 for each of two servers with the same keys; above 100 with a simulator only"
    ) { value, _, configuration throws(SettingFault) in
        configuration.appStore.serverAPILimitPercent = try number(value, in: 1...100_000)
    }

    package static let appStoreWait = ServerSetting(
        "app_store.wait_hours", default: "72", "The maximum hours a claim waits for the App Store's answer"
    ) { value, _, configuration throws(SettingFault) in
        configuration.appStore.waitHours = try number(value, in: 1...8760)
    }

    private static func appStoreURL(_ value: ServerSettingValue, _ form: String) throws(SettingFault) -> String {
        do throws(AppStoreConnectionSettingsError) {
            return try AppStoreConnectionSettings.url(value.text).absoluteString
        } catch {
            throw SettingFault("is wrong: \(error)", "Write \(form), or http with a loopback address")
        }
    }

    /// All of them, in the order of the documentation. A burst follows its rate in the table, because the rate also
    /// sets a burst.
    package static let all: [ServerSetting] =
        [
            host, port, tlsCertificate, tlsKey, admin, database, trust, environments, sharedSecret, answerKey,
            trustedProxies, logLevel, logFormat,
            entryKey, signingKey, origin, checkpoints, bodyBytes, apiBodyBytes, connections, connectionsPerAddress,
            connectionsPerNetwork, uncountedAddresses,
            requestSeconds, idleSeconds, mergeOriginals,
        ]
        + rate("limits.per_key", \.perKey, 1000, 2000, "requests to /v1 with one key")
        + [addressPercentOfKey, networkPercentOfKey]
        + rate(
            "limits.per_address", \.perAddress, 50_000, 100_000, "requests to /v1 and verifyReceipt from one address")
        + rate("limits.wrong_secrets", \.wrongSecrets, 1, 20, "wrong shared secrets from one address, for each app")
        + [
            appStoreProduction, appStoreSandbox, serverAPIProduction, serverAPISandbox, serverAPILimit, appStoreTrust,
            appStoreWait,
        ]

    /// A rate: the number per second, and the number at once after a pause, which defaults to twice the first.
    private static func rate(
        _ name: String, _ limit: any WritableKeyPath<ServerConfiguration.Limits, RateLimit> & Sendable,
        _ perSecond: Int, _ burst: Int, _ what: String
    ) -> [ServerSetting] {
        [
            ServerSetting("\(name).per_second", default: "\(perSecond)", "How many \(what) are accepted per second") {
                value, _, configuration throws(SettingFault) in
                let rate = Double(try number(value, in: 1...1_000_000))
                configuration.limits[keyPath: limit] = RateLimit(perSecond: rate, burst: rate * 2)
            },
            ServerSetting("\(name).burst", default: "\(burst)", "How many \(what) are accepted at once after a pause") {
                value, _, configuration throws(SettingFault) in
                configuration.limits[keyPath: limit].burst = Double(try number(value, in: 1...1_000_000))
            },
        ]
    }

    private static func number(
        _ value: ServerSettingValue, in bounds: ClosedRange<Int64>
    ) throws(SettingFault) -> Int64 {
        guard let number = Int64(value.text), bounds.contains(number) else {
            throw SettingFault(
                "is '\(value.text)'", "Write a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
        return number
    }

    private static func addressRanges(_ value: ServerSettingValue) throws(SettingFault) -> [AddressRange] {
        var ranges: [AddressRange] = []
        for text in value.texts {
            guard let range = AddressRange(text) else {
                throw SettingFault("has '\(text)'", "Write addresses or ranges: 127.0.0.1, 10.0.0.0/8, fd00::/8")
            }
            ranges.append(range)
        }
        return ranges
    }
}

extension AppStoreEnvironment {
    /// An environment by its name; those of Apple in any case.
    package init(anyCase name: String) {
        let apples: [AppStoreEnvironment] = [.production, .sandbox, .xcode]
        self = apples.first { $0.name.lowercased() == name.lowercased() } ?? AppStoreEnvironment(name)
    }
}
