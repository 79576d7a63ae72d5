import ArgumentParser
import Foundation
import Hummingbird
import Logging
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// `assay serve`: the drop-in for `verifyReceipt`, and the purchase server.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answers verifyReceipt as Apple does, and keeps the books of purchases.",
        discussion: """
            These can be given in the environment instead: ASSAY_HOST, ASSAY_PORT, ASSAY_TRUST and \
            ASSAY_ENVIRONMENT (several separated by commas), ASSAY_SHARED_SECRET, ASSAY_LOG_LEVEL, ASSAY_DATABASE, \
            ASSAY_CONFIG. An option is stronger than the environment, and that is stronger than the settings file, \
            which lists the apps. Without any setting the books are in assay.sqlite in the current folder.
            """)

    @OptionGroup var books: LedgerDatabaseOptions

    @Option(name: .long, help: "The address to listen on (127.0.0.1).")
    var host: String?

    @Option(name: .long, help: "The port to listen on (8080); 0 takes a free one.")
    var port: Int?

    @Option(name: .long, help: "A certificate to trust besides Apple's roots, in DER or PEM. Repeat for several.")
    var trust: [String] = []

    @Option(
        name: .long,
        help: "An environment to accept (Production and Sandbox): Production, Sandbox, Xcode or another name.")
    var environment: [AppStoreEnvironment] = []

    @Option(
        name: .long,
        help: "The file with the app's shared secret; in the environment, ASSAY_SHARED_SECRET is the secret itself.")
    var sharedSecretFile: String?

    @Option(name: .long, help: "trace, debug, info, notice, warning, error or critical (info).")
    var logLevel: String?

    @Option(name: .long, help: "The largest request body, in bytes (17825792).")
    var maxBodyBytes: Int?

    @Option(name: .long, help: "Connections at the same time (4096).")
    var maxConnections: Int?

    @Option(name: .long, help: "How long a request may take to arrive, in seconds (30).")
    var requestSeconds: Int64?

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        var logger = Logger(label: "assay") { _ in StreamLogHandler.standardError(label: "assay") }
        logger.logLevel = try level(logLevel ?? environment["ASSAY_LOG_LEVEL"] ?? "info")
        let settings = try books.settings(
            environment, isTrustExtended: !trust.isEmpty || environment["ASSAY_TRUST"] != nil)
        let configuration = try configuration(environment, settings)
        let database = try books.open(settings, environment)
        do {
            try await LedgerMigrations.migrate(database, now: .now)
            let ledger = PurchaseLedger(
                database: database, verifier: PurchaseVerifier(anchors: configuration.anchors)
            ) { Timestamp(Date()) }
            try await warn(configuration.apps, ledger, logger)
            let server = purchaseServer(configuration, ledger: ledger, logger: logger) { address in
                Terminal.write("assay: ready on \(address)\n")
            }
            try await server.runService()
        } catch {
            Terminal.complain("the server stopped: \(error)")
            try await database.close()
            throw ExitCode.unusable
        }
        // What was answered is on the disk; this empties the log beside the file.
        try await database.close()
    }

    /// Says which products are registered as something else than they were sold as: what is sold from now on counts as that.
    private func warn(_ apps: [String: RegisteredApp], _ ledger: PurchaseLedger, _ logger: Logger) async throws {
        for app in apps.values.sorted(by: { $0.id < $1.id }) {
            let products: [(productID: String, sold: ProductKind, registered: ProductKind)]
            do {
                products = try await ledger.read { try $0.productsSoldAsAnotherKind(app) }
            } catch let error as LedgerStorageError where error.kind == .corrupt {
                // A row that cannot be read keeps nobody else from being served; the audit names it.
                logger.warning("a purchase cannot be read", metadata: ["app": "\(app.id)", "error": "\(error.detail)"])
                continue
            }
            for product in products {
                logger.warning(
                    "a product is registered as another kind than it was sold as",
                    metadata: [
                        "app": "\(app.id)", "product": "\(product.productID)", "sold": "\(product.sold.rawValue)",
                        "registered": "\(product.registered.rawValue)",
                    ])
            }
        }
    }

    /// Options first, then the environment, then the file, then the defaults.
    private func configuration(
        _ environment: [String: String], _ settings: SettingsFile
    ) throws -> ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.host = host ?? environment["ASSAY_HOST"] ?? settings.host ?? configuration.host
        configuration.port = settings.port ?? configuration.port
        if let text = environment["ASSAY_PORT"], port == nil {
            guard let number = Int(text) else { throw ValidationError("ASSAY_PORT is no number: '\(text)'.") }
            configuration.port = number
        }
        configuration.port = port ?? configuration.port
        guard (0...65_535).contains(configuration.port) else {
            throw ValidationError("A port is a number from 0 to 65535.")
        }
        configuration.anchors = try TrustFile.anchors(
            !trust.isEmpty
                ? trust : environment["ASSAY_TRUST"] != nil ? environment.list("ASSAY_TRUST") : settings.trust)
        let named = environment.list("ASSAY_ENVIRONMENT").map(AppStoreEnvironment.init(argument:))
        let accepted = self.environment.isEmpty ? named : self.environment
        if !accepted.isEmpty { configuration.environments = Set(accepted) }
        configuration.sharedSecret = try sharedSecret(environment)
        for app in settings.apps.values {
            guard let secret = try app.sharedSecret ?? app.sharedSecretFile.map(SecretFile.secret) else { continue }
            for bundleID in app.app.bundleIDs { configuration.sharedSecrets[bundleID] = secret }
        }
        configuration.apps = settings.apps.mapValues(\.app)
        configuration.trustedProxies = settings.trustedProxies
        configuration.limits.perKey = settings.perKey ?? configuration.limits.perKey
        configuration.limits.perAddress = settings.perAddress ?? configuration.limits.perAddress
        configuration.limits.bodyBytes = settings.bodyBytes ?? configuration.limits.bodyBytes
        if let maxBodyBytes { configuration.limits.bodyBytes = maxBodyBytes }
        if let maxConnections { configuration.limits.connections = maxConnections }
        if let requestSeconds { configuration.limits.requestSeconds = requestSeconds }
        guard configuration.limits.bodyBytes > 0, configuration.limits.connections > 0,
            configuration.limits.requestSeconds > 0
        else { throw ValidationError("Limits are numbers from 1.") }
        return configuration
    }

    /// A secret never stands on the command line, where every user of the machine could read it.
    private func sharedSecret(_ environment: [String: String]) throws -> String? {
        if let sharedSecretFile { return try SecretFile.secret(sharedSecretFile) }
        if let secret = environment["ASSAY_SHARED_SECRET"] {
            guard !secret.isEmpty else { throw ValidationError("ASSAY_SHARED_SECRET is set, but empty.") }
            return secret
        }
        return nil
    }

    private func level(_ name: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: name.lowercased()) else {
            throw ValidationError("'\(name)' is no log level.")
        }
        return level
    }
}

extension [String: String] {
    /// The entries of a variable that holds several, separated by commas.
    fileprivate func list(_ name: String) -> [String] {
        self[name]?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } ?? []
    }
}
