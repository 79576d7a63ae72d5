public import Hummingbird
import Logging
public import PurchaseLedger
import ServiceLifecycle

/// A server whose ledger is open. Run its application, or close it.
public struct StartedServer: Sendable {
    /// The ledger under the settings of the start.
    public let ledger: PurchaseLedger
    /// The database of the ledger. The application closes it at its end.
    public let database: any LedgerDatabase
    private let server: ReloadableServer
    private let services: LedgerServices
    private let readings: ServerReadings
    private let logger: Logger

    init(
        _ configuration: ServerConfiguration, _ dependencies: ServerDependencies, _ logger: Logger,
        ledger: PurchaseLedger, database: any LedgerDatabase, sealing: RecordSealing, webhooks: WebhookDispatcher,
        appStoreClaims: AppStoreClaimService, metrics: ServerMetrics, traces: RecentTraces
    ) {
        (self.ledger, self.database, self.logger) = (ledger, database, logger)
        let server = ReloadableServer(
            configuration, ledger: ledger, appStoreClaims: appStoreClaims, clock: dependencies.clock,
            uptime: dependencies.uptime, offerTime: dependencies.retentionOfferTime,
            eventStreams: dependencies.eventStreams, metrics: metrics, traces: traces,
            consoleTools: dependencies.console, logger: logger)
        let readings = ServerReadings(
            ledger: ledger, database: database, webhooks: configuration.webhooks, logger: logger
        ) { server.readings + appStoreClaims.samples }
        self.readings = readings
        let reload = dependencies.settings.map { source in
            SettingsReload(
                source: source, clock: dependencies.clock, server: server, webhooks: webhooks, readings: readings,
                ledger: ledger,
                started: configuration, logger: logger)
        }
        let delivery = WebhookDispatcher.Delivery(
            dispatcher: webhooks, webhooks: configuration.webhooks, ledger: ledger)
        self.server = server
        // The last one ends first: the record is sealed when nothing writes to it any more.
        services = LedgerServices(
            services: [sealing, delivery, appStoreClaims, appStoreClaims.work, readings]
                + [reload].compactMap(\.self)
                + server.services(logger: logger, certificateInterval: dependencies.certificateInterval),
            appStoreClaims: appStoreClaims, database: database, logger: logger)
    }

    /// The server as an application that can be run, or tested in the same process. It can be run once, and it closes
    /// the database at its end.
    ///
    /// - Parameters:
    ///   - onReady: called once with the address, when the server accepts connections.
    ///   - onAdminReady: the same for the listener for operators, if the settings have it; a URL or the path of a
    ///     socket.
    public func application(
        onReady: @escaping @Sendable (String) async -> Void = { _ in },
        onAdminReady: @escaping @Sendable (String) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        // It ends last, so that a monitor sees the server until its end.
        let admin = server.adminListener(readings, logger: logger, onReady: onAdminReady)
        return server.application(logger: logger, services: [admin, services], onReady: onReady)
    }

    /// Closes a server that is not run.
    public func close() async throws { try await services.close() }
}
