package import AppStoreConnection
import Foundation
public import Logging
public import PurchaseConsole
public import PurchaseLedger
public import PurchaseVerification

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
        try await SettingsRemarks.log(configuration, ledger, logger)
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

/// What a server uses of its surroundings: clocks, the database, and requests to read the settings again.
public struct ServerDependencies: Sendable {
    /// The clock of the ledger, of deliveries, of questions to the App Store and of signed answers.
    public var clock: @Sendable () -> Timestamp = { Timestamp(Date()) }
    /// Opens the database of the settings.
    public var openDatabase: @Sendable (_ address: String) throws -> any LedgerDatabase = {
        try LedgerDatabases.open($0)
    }
    /// Where the settings are read again; `nil` if they never are.
    public var settings: SettingsSource?
    /// Called with a sentence about each file that the start creates.
    public var remark: @Sendable (String) -> Void = { _ in }
    /// Seconds since any moment, never going back; rate limits are measured with it.
    package var uptime: @Sendable () -> Double = { ProcessInfo.processInfo.systemUptime }
    /// How long claims wait for the App Store; `nil` for the times of the settings.
    package var appStoreTiming: AppStoreTiming?
    /// The clock of pauses and circuit breakers of the connection to the App Store.
    package var connectionClock = ConnectionClock.system
    /// How long an offer of a realtime answer may take until the message for other customers is shown.
    package var retentionOfferTime = RetentionRoutes.offerTime
    /// The maximum number of streams of events.
    package var eventStreams = EventStreams.largest
    /// The time limits of one attempt to reach the App Store.
    package var appStoreLimits = AttemptLimits()

    /// How often the files of the certificate are looked at.
    package var certificateInterval = CertificateWatch.interval
    /// What the program adds to the console.
    public var console = ConsoleTools()
    /// The build, for the metrics.
    public var build = ServerBuild()

    public init() {}
}

/// Names the settings without effect: those of apps that moved, and of products whose recorded purchases grant nothing
/// until the settings agree with the evidence.
enum SettingsRemarks {
    static func log(_ configuration: ServerConfiguration, _ ledger: PurchaseLedger, _ logger: Logger) async throws {
        for app in configuration.appsInOrder {
            if let place = ledger.placeOfMoved(app: app.id) {
                logger.notice(
                    "the settings of an app are ignored, because it moved to other servers",
                    metadata: ["app": "\(app.id)", "servers": "\(place)"])
                continue
            }
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
