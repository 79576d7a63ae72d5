public import Logging
import PurchaseLedger
import PurchaseVerification

/// Opens the ledger of a configuration, and puts its server together: sealing, webhooks, questions to the App Store,
/// reloads and the HTTP interface. `assay serve`, `assay dev`, tests and benchmarks all start this server.
///
/// ```swift
/// let server = try await startPurchaseServer(configuration, logger: logger)
/// try await server.application().runService()
/// ```
///
/// - Parameters:
///   - configuration: the settings.
///   - dependencies: the clocks, the database, and the requests to read the settings again.
///   - logger: where to log; messages are constant, facts are metadata, and no secret or receipt is among them.
/// - Throws: `LedgerStorageError`, `LedgerRefusal`, `LogError`, `AppStoreConnectionSettingsError`,
///   and what `dependencies.openDatabase` throws. The database is closed then.
public func startPurchaseServer(
    _ configuration: ServerConfiguration, _ dependencies: ServerDependencies = ServerDependencies(), logger: Logger
) async throws -> StartedServer {
    let configuration = configuration.signing(by: dependencies.clock)
    let clock = dependencies.clock
    let (metrics, traces) = (ServerMetrics(build: dependencies.build), RecentTraces())
    ProcessReadings.begin()
    configuration.tls?.warn(logger)
    let keys = RecordKeys(configuration.record, remark: dependencies.remark)
    try keys.requireUsable()
    try RecordSealing.requireUsable(configuration.record.checkpoints)
    let database = try dependencies.openDatabase(configuration.database)
    do {
        try await LedgerMigrations.migrate(database, now: clock().millisecondsSince1970)
        var ledger = try await PurchaseLedger.open(
            database: database, verifier: PurchaseVerifier(anchors: configuration.anchors),
            apps: configuration.appsInOrder, clock: clock, entryKey: try await keys.entryKey(of: database))
        let authorities = EndedAuthorityAlarm(uptime: dependencies.uptime, logger)
        ledger.onVerification = {
            metrics.note($0)
            authorities.note($0.error)
        }
        try await UncountedProductsWarning.log(configuration, ledger, logger)
        let signer = try keys.signer(logger)
        let sealing = try RecordSealing(
            ledger: ledger, signer: signer, places: configuration.record.checkpoints, metrics: metrics, logger: logger)
        // From here on nothing fails, so its connections are closed by its own service.
        let appStoreClaims = try AppStoreClaimService(
            ledger: ledger, configuration: configuration, timing: dependencies.appStoreTiming,
            connectionClock: dependencies.connectionClock, limits: dependencies.appStoreLimits, clock: clock,
            metrics: metrics, logger: logger)
        return StartedServer(
            configuration, dependencies, logger, ledger: ledger, database: database, sealing: sealing,
            webhooks: WebhookDispatcher(
                logger: logger, owner: WebhookOwner(holderOf: signer?.verifier), resolver: .system, traces: traces,
                metrics: metrics, clock: clock),
            appStoreClaims: appStoreClaims, metrics: metrics, traces: traces)
    } catch {
        try await database.close()
        throw error
    }
}

extension ServerConfiguration {
    /// The apps, always in the same order.
    var appsInOrder: [RegisteredApp] { apps.values.sorted { $0.id < $1.id } }

    /// The settings, with answers signed at the time of a clock.
    func signing(by clock: @escaping @Sendable () -> Timestamp) -> ServerConfiguration {
        var configuration = self
        configuration.answerSigner?.clock = { clock().millisecondsSince1970 / 1000 }
        return configuration
    }
}
