import ArgumentParser
import Foundation
import Hummingbird
import LegacyLedger
import Logging
import NIOCore
import PurchaseServer
import PurchaseVerification

/// `assay serve`: the drop-in for `verifyReceipt`, and the purchase server.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs the server: verifyReceipt as Apple answers it, and the purchase ledger.",
        discussion: """
            Each option names the variable of the environment and the line of the settings file that say the same. An \
            option is stronger than the environment, and that is stronger than the settings file, which also lists the \
            apps. Without any setting the database is assay.sqlite in the current folder.
            """)

    @OptionGroup var ledger: LedgerDatabaseOptions

    @Option(name: .long, help: .setting(.host))
    var host: String?

    @Option(name: .long, help: .setting(.port))
    var port: String?

    @Option(name: .long, help: .setting(.trust))
    var trust: [String] = []

    @Option(name: .long, help: .setting(.environments))
    var environment: [String] = []

    @Option(name: .long, help: .setting(.sharedSecret))
    var sharedSecretFile: String?

    @Option(name: .long, help: .setting(.trustedProxies))
    var trustedProxy: [String] = []

    @Option(name: .long, help: .setting(.logLevel))
    var logLevel: String?

    @Option(name: .long, help: .setting(.bodyBytes))
    var maxBodyBytes: String?

    @Option(name: .long, help: .setting(.connections))
    var maxConnections: String?

    @Option(name: .long, help: .setting(.connectionsPerAddress))
    var maxConnectionsPerAddress: String?

    @Option(name: .long, help: .setting(.requestSeconds))
    var requestSeconds: String?

    @Option(name: .long, help: .setting(.idleSeconds))
    var idleSeconds: String?

    /// What was given by option, for the table of settings.
    private var options: [String: [String]] {
        let given: [(ServerSetting, [String])] = [
            (.host, list(host)), (.port, list(port)), (.database, list(ledger.database)), (.trust, trust),
            (.environments, environment), (.sharedSecret, list(sharedSecretFile)), (.trustedProxies, trustedProxy),
            (.logLevel, list(logLevel)), (.bodyBytes, list(maxBodyBytes)), (.connections, list(maxConnections)),
            (.connectionsPerAddress, list(maxConnectionsPerAddress)), (.requestSeconds, list(requestSeconds)),
            (.idleSeconds, list(idleSeconds)),
        ]
        return Dictionary(
            uniqueKeysWithValues: given.compactMap { setting, texts in setting.option.map { ($0, texts) } })
    }

    /// Why the server does not run, and what to do.
    private static func words(_ error: any Error, _ configuration: ServerConfiguration) -> String {
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE: "port \(configuration.port) is in use; choose another with --port"
        case EACCES: "port \(configuration.port) is not permitted; choose one above 1023 with --port"
        case EADDRNOTAVAIL: "\(configuration.host) is not an address of this machine; choose another with --host"
        default: "the server stopped: \(error)"
        }
    }

    private func list(_ text: String?) -> [String] { text.map { [$0] } ?? [] }

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let isTrustExtended = !trust.isEmpty || environment[ServerSetting.trust.variable ?? ""] != nil
        let place = try ledger.place(environment, isTrustExtended: isTrustExtended)
        let configuration = try place.configuration(options: options)
        var logger = Logger(label: "assay") { _ in StreamLogHandler.standardError(label: "assay") }
        logger.logLevel = configuration.logLevel
        let database = try place.open(isCreating: true)
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
            Terminal.complain(Self.words(error, configuration))
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
}

extension ArgumentHelp {
    /// The help of an option that is in the table of settings.
    fileprivate static func setting(_ setting: ServerSetting) -> ArgumentHelp { ArgumentHelp(setting.help) }
}
