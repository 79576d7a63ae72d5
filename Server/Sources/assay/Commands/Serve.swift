import AppStoreConnection
import ArgumentParser
import Foundation
import Hummingbird
import Logging
import NIOCore
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import UnixSignals

/// `assay serve`: the drop-in for `verifyReceipt`, and the purchase server.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs the server: verifyReceipt as Apple answers it, and the purchase ledger.",
        discussion: """
            Each option names the environment variable and the line of the settings file for the same setting. An \
            option overrides the environment, and the environment overrides the settings file, which also lists the \
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

    @Option(name: .long, help: .setting(.answerKey))
    var answerKey: String?

    @Option(name: .long, help: .setting(.trustedProxies))
    var trustedProxy: [String] = []

    @Option(name: .long, help: .setting(.logLevel))
    var logLevel: String?

    @Option(name: .long, help: .setting(.logFormat))
    var logFormat: String?

    @Option(name: .long, help: .setting(.signingKey))
    var signingKey: String?

    @Option(name: .long, help: .setting(.origin))
    var origin: String?

    @Option(name: .long, help: .setting(.checkpoints))
    var checkpoints: [String] = []

    @Option(name: .long, help: .setting(.bodyBytes))
    var maxBodyBytes: String?

    @Option(name: .long, help: .setting(.apiBodyBytes))
    var maxApiBodyBytes: String?

    @Option(name: .long, help: .setting(.connections))
    var maxConnections: String?

    @Option(name: .long, help: .setting(.connectionsPerAddress))
    var maxConnectionsPerAddress: String?

    @Option(name: .long, help: .setting(.requestSeconds))
    var requestSeconds: String?

    @Option(name: .long, help: .setting(.idleSeconds))
    var idleSeconds: String?

    /// The values of options, for the table of settings.
    private var options: [String: [String]] {
        let given: [(ServerSetting, [String])] = [
            (.host, list(host)), (.port, list(port)), (.database, list(ledger.database)), (.trust, trust),
            (.environments, environment), (.sharedSecret, list(sharedSecretFile)), (.answerKey, list(answerKey)),
            (.trustedProxies, trustedProxy), (.logLevel, list(logLevel)), (.logFormat, list(logFormat)),
            (.entryKey, list(ledger.entryKey)),
            (.signingKey, list(signingKey)),
            (.origin, list(origin)), (.checkpoints, checkpoints), (.bodyBytes, list(maxBodyBytes)),
            (.apiBodyBytes, list(maxApiBodyBytes)), (.connections, list(maxConnections)),
            (.connectionsPerAddress, list(maxConnectionsPerAddress)), (.requestSeconds, list(requestSeconds)),
            (.idleSeconds, list(idleSeconds)),
        ]
        return Dictionary(
            uniqueKeysWithValues: given.compactMap { setting, texts in setting.option.map { ($0, texts) } })
    }

    /// The reason why the server does not run, and what to do.
    static func words(_ error: any Error, _ configuration: ServerConfiguration) -> String {
        if let refusal = error as? LedgerRefusal { return refusal.line }
        if let error = error as? LedgerStorageError { return "\(error)" }
        if let error = error as? LogError { return "\(error)" }
        if let error = error as? AppStoreConnectionSettingsError { return "\(error)" }
        if let refusal = error as? NewRulesRefusal { return refusal.line }
        return switch (error as? IOError)?.errnoCode {
        case EADDRINUSE:
            "port \(configuration.port) is in use; choose another with --port, or a free one with --port 0"
        case EACCES: "port \(configuration.port) is not permitted; choose one above 1023 with --port"
        case EADDRNOTAVAIL: "\(configuration.host) is not an address of this machine; choose another with --host"
        default: "the server stopped: \(error)"
        }
    }

    private func list(_ text: String?) -> [String] { text.map { [$0] } ?? [] }

    func run() async throws {
        // From here on, SIGHUP no longer ends the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let environment = ProcessInfo.processInfo.environment
        let isTrustExtended = !trust.isEmpty || environment[ServerSetting.trust.variable ?? ""] != nil
        let place = try ledger.place(environment, isTrustExtended: isTrustExtended)
        let configuration = try place.configuration(options: options)
        let logger = LineLogHandler.logger(configuration.logFormat, level: configuration.logLevel)
        if configuration.logFormat == .json { Terminal.useLog(logger) }
        do {
            try ListeningPort.requireFree(configuration.host, configuration.port)
        } catch {
            Terminal.complain(Self.words(error, configuration))
            throw ExitCode.unusable
        }
        let keys = try place.recordKeys(options: options)
        let database = try place.open(isCreating: true)
        do {
            try await LedgerMigrations.migrate(database, now: .now)
            ServeStart(configuration: configuration, settings: place.path, database: try place.databaseName())
                .log(to: logger)
            let apps = configuration.apps.values.sorted { $0.id < $1.id }
            let ledger = try await PurchaseLedger.open(
                database: database, verifier: PurchaseVerifier(anchors: configuration.anchors), apps: apps,
                clock: { Timestamp(Date()) }, entryKey: try await keys.entryKey(of: database))
            try await applyNewRules(ledger, logger)
            try await Self.warn(apps, ledger, logger)
            let signer = try signer(keys, logger)
            let sealing = try RecordSealing(
                ledger: ledger, signer: signer, places: keys.checkpoints, logger: logger)
            let desk = try AppStoreDesk(
                ledger: ledger, configuration: configuration, clock: { Timestamp(Date()) }, logger: logger)
            let server = ReloadableServer(configuration, ledger: ledger, desk: desk)
            let webhooks = WebhookDispatcher(logger: logger, holderOf: signer?.verifier)
            let reload = SettingsReload(
                server: server, webhooks: webhooks, ledger: ledger, started: configuration, logger: logger
            ) {
                [options, database = self.ledger] in
                try database.readPlace(environment, isTrustExtended: isTrustExtended).configuration(options: options)
            }
            let application = server.application(logger: logger, services: [sealing, desk]) { address in
                Terminal.write("assay: ready on \(address)\n")
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in hangups { await reload.run() } }
                webhooks.deliver(to: configuration.webhooks, from: ledger)
                do {
                    try await application.runService()
                } catch {
                    await webhooks.stop()
                    await desk.end()
                    throw error
                }
                group.cancelAll()
                await webhooks.stop()
                await desk.end()
            }
        } catch {
            Terminal.complain(Self.words(error, configuration))
            try await database.close()
            throw ExitCode.unusable
        }
        // Every answered write is durable; closing checkpoints the WAL.
        try await database.close()
        logger.notice("assay serve stopped")
    }

    /// The signer of the log; `nil` if another server signs with the key.
    private func signer(_ keys: RecordKeys, _ logger: Logger) throws(LogError) -> CheckpointSigner? {
        do throws(LogError) {
            return try CheckpointSigner(keyFile: keys.signingKeyFile)
        } catch  where error.code == .signerBusy {
            logger.notice(
                "this server seals the record and does not sign it, because another process has the key",
                metadata: ["code": "\(error.code.rawValue)", "key": "\(keys.signingKeyFile)"])
            return nil
        }
    }

    /// Rebuilds the tables if this version decides by newer rules than the previous one.
    private func applyNewRules(_ ledger: PurchaseLedger, _ logger: Logger) async throws {
        guard let report = try await ledger.applyNewRules() else { return }
        let others = report.findings.count { !$0.kind.isOfTables }
        guard others == 0 else { throw NewRulesRefusal(findings: others) }
        logger.notice(
            "the tables were rebuilt under newer rules; the events 'corrected' name what changed",
            metadata: ["differences": .stringConvertible(report.findings.count)])
    }

    /// The message if the tables were not rebuilt under newer rules, because purchases would be lost.
    private struct NewRulesRefusal: Error {
        let findings: Int

        var line: String {
            "this version has newer rules, and the tables cannot be rebuilt, because \(findings) findings are about the "
                + "journal or its evidence; list them with 'assay audit verify', and restore a backup or name the certificates"
        }
    }

    /// Warns of products whose recorded purchases grant nothing until the settings agree with the evidence.
    static func warn(_ apps: [RegisteredApp], _ ledger: PurchaseLedger, _ logger: Logger) async throws {
        for app in apps {
            for product in try await ledger.answer(UncountedProducts(app: app.id)) {
                let code: DecisionCode = product.isRegistered ? .productKindMismatch : .productUnknown
                logger.warning(
                    "purchases of a product give nothing, because the settings do not agree with the evidence",
                    metadata: [
                        "app": "\(app.id)", "product": "\(product.productID)",
                        "purchases": product.isCountedWhole
                            ? .stringConvertible(product.uncounted) : "\(product.uncounted) or more",
                        "code": "\(code.rawValue)",
                    ])
            }
        }
    }
}

extension ArgumentHelp {
    /// The help of an option that is in the table of settings.
    fileprivate static func setting(_ setting: ServerSetting) -> ArgumentHelp { ArgumentHelp(setting.help) }
}
