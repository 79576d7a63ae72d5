import Foundation
import HTTPConnections
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PurchaseConsole
import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle
import Synchronization

/// The server, whose settings can be replaced while it runs.
///
/// Each request is answered under the settings that were in force when its head arrived. Counts of requests,
/// connections and bodies are kept, so that a reload gives nobody more than their limit.
final class ReloadableServer: Sendable {
    private let started: ServerConfiguration
    private let uptime: @Sendable () -> Double
    private let offerTime: Duration
    private let consoleTools: ConsoleTools
    private let readiness: ReadinessMonitor
    private let limited: LimitedRequests
    private let bodies: BodyReader
    private let workers: WorkerPool
    private let access: AccessLimits
    private let wrongSecrets: RateLimiter
    private let connections: ConnectionLimiter
    private let answers = AnswerBudget()
    private let deadlines: AnswerDeadlines
    private let outages = OutageLog()
    private let notificationLanes: NotificationLanes
    private let notificationAlarm: NotificationAlarm
    private let authorities: EndedAuthorityAlarm
    private let refusedNotifications = RefusedNotifications()
    private let appStoreClaims: AppStoreClaimService
    private let stateDeadlines: ShortDeadlines
    private let newsDeadlines: ShortDeadlines
    private let receiptRecording: ReceiptRecording
    private let missingNews: StatusesForReceipts
    private let appStoreAccess: AppStoreAccess
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let uses = KeyUses()
    private let streams: EventStreams
    private let answerTimes = AnswerTimes()
    private let ledger: PurchaseLedger
    private let metrics: ServerMetrics
    private let traces: RecentTraces
    /// The certificate of the listener for clients; `nil` for HTTP without TLS.
    private let certificate: ServedCertificate?
    private let adminConnections: ConnectionLimiter
    private let inForce: Mutex<InForce>

    /// The parts that a reload replaces together.
    private struct InForce {
        var responder: any HTTPResponder<ServerContext>
        var limits: ServerConfiguration.Limits
        var ledger: PurchaseLedger
        var webhooks: [Webhook]
        var hasApps = false
    }

    /// - Parameters:
    ///   - configuration: the settings.
    ///   - ledger: where purchases are recorded.
    ///   - appStoreClaims: asks the App Store about claims of apps with the mode `apple` or `both`; it must run beside
    ///     the server.
    ///   - clock: the ledger's clock.
    ///   - uptime: seconds since any moment, never going back; rate limits are measured with it.
    ///   - offerTime: how long an offer of a realtime answer may take.
    ///   - eventStreams: the maximum number of streams of events.
    ///   - metrics: counts what the server does.
    ///   - traces: remembers the traces of requests.
    ///   - consoleTools: what the program adds to the console.
    init(
        _ configuration: ServerConfiguration, ledger: PurchaseLedger, appStoreClaims: AppStoreClaimService,
        clock: @escaping @Sendable () -> Timestamp, uptime: @escaping @Sendable () -> Double, offerTime: Duration,
        eventStreams: Int, metrics: ServerMetrics, traces: RecentTraces, consoleTools: ConsoleTools, logger: Logger
    ) {
        self.consoleTools = consoleTools
        stateDeadlines = ShortDeadlines(uptime: uptime, missed: StateMissLog(logger: logger).note)
        (self.metrics, self.traces) = (metrics, traces)
        certificate = configuration.tls.map { ServedCertificate($0, metrics) }
        var adminLimits = configuration.limits
        adminLimits.connections = min(adminLimits.connections, AdminListener.connections)
        adminConnections = ConnectionLimiter(.init(adminLimits, trustedProxies: []))
        newsDeadlines = ShortDeadlines(uptime: uptime)
        let limits = configuration.limits
        started = configuration
        self.appStoreClaims = appStoreClaims
        appStoreAccess = appStoreClaims.access
        (self.clock, self.logger) = (clock, logger)
        streams = EventStreams(limit: eventStreams, uptime: uptime, logger: logger)
        self.ledger = ledger
        self.uptime = uptime
        self.offerTime = offerTime
        readiness = ReadinessMonitor(ledger)
        limited = LimitedRequests(clock: clock)
        let workers = WorkerPool(limit: limits.waitingVerifications)
        self.workers = workers
        receiptRecording = ReceiptRecording(workers: workers, logger: logger)
        missingNews = StatusesForReceipts(access: appStoreAccess, workers: workers, uptime: uptime, logger: logger)
        bodies = BodyReader(limits)
        access = AccessLimits(limits, uptime: uptime)
        wrongSecrets = RateLimiter(limits.wrongSecrets, uptime: uptime)
        connections = ConnectionLimiter(.init(limits, trustedProxies: configuration.trustedProxies))
        deadlines = AnswerDeadlines(seconds: limits.answerSeconds)
        notificationLanes = NotificationLanes(uptime: uptime)
        notificationAlarm = NotificationAlarm(uptime: uptime)
        authorities = EndedAuthorityAlarm(uptime: uptime, logger)
        inForce = Mutex(InForce(responder: NoResponder(), limits: limits, ledger: ledger, webhooks: []))
        replaceSettings(by: configuration, ledger: ledger)
    }

    /// Answers every later request under other settings. Requests in progress end under the previous ones.
    ///
    /// Host, port, database, log level and format, the number of connections and the keys of the record stay as they
    /// were at the start (`ServerConfiguration.settingsThatNeedRestart`).
    func replaceSettings(by configuration: ServerConfiguration, ledger: PurchaseLedger) {
        let limits = configuration.limits
        var ledger = ledger
        ledger.mergeOriginals = limits.mergeOriginals
        appStoreAccess.replace(by: AppStoreTerms(ledger, configuration))
        access.limit(to: limits)
        wrongSecrets.limit(to: limits.wrongSecrets)
        connections.limit(to: .init(limits, trustedProxies: configuration.trustedProxies))
        if let tls = configuration.tls { certificate?.replace(by: tls, logger) }
        let responder = responder(configuration, ledger: ledger)
        let (webhooks, hasApps) = (configuration.webhooks, !configuration.apps.isEmpty)
        inForce.withLock {
            $0 = InForce(responder: responder, limits: limits, ledger: ledger, webhooks: webhooks, hasApps: hasApps)
        }
        streams.end()
    }

    /// Whether the settings in force have an app.
    var hasApps: Bool { inForce.withLock { $0.hasApps } }

    /// What the server does beside answering: checks whether it is ready, records the uses of keys and counted
    /// refusals, and logs the number of refused notifications.
    ///
    /// - Parameter certificateInterval: how often the files of the certificate are looked at.
    func services(logger: Logger, certificateInterval: Duration) -> [any Service] {
        let watch: (any Service)? = certificate.map {
            CertificateWatch(served: $0, logger: logger, interval: certificateInterval)
        }
        return [watch].compactMap(\.self) + [
            readiness, KeyUses.Recording(uses: uses, ledger: ledger, logger: logger),
            AnswerTimes.Recording(times: answerTimes, ledger: ledger, logger: logger),
            RefusalRecording(ledger: ledger, logger: logger),
            RefusedNotifications.LogLines(refused: refusedNotifications, logger: logger),
            receiptRecording,
        ]
    }

    private var requestLog: RequestLogMiddleware {
        RequestLogMiddleware(refusedNotifications: refusedNotifications, metrics: metrics, times: answerTimes)
    }

    private var extensions: ExtensionRequests {
        ExtensionRequests(access: appStoreAccess, clock: clock, logger: logger)
    }

    /// The values that metrics read for each scrape.
    var readings: [MetricSample] {
        var samples = [
            MetricSample(.isReady, readiness.state == .ready ? 1 : 0),
            MetricSample(.waitingWork, Double(workers.waitingCount)),
            MetricSample(.openConnections, ["clients"], Double(connections.openCount)),
            MetricSample(.openConnections, ["admin"], Double(adminConnections.openCount)),
            MetricSample(.openStreams, Double(streams.count)),
        ]
        if let end = certificate?.current.certificate.notAfter {
            samples.append(MetricSample(.certificateEnd, Double(end.millisecondsSince1970 / 1000)))
        }
        return samples
    }

    /// The listener for operators.
    func adminListener(
        _ readings: ServerReadings, logger: Logger, onReady: @escaping @Sendable (String) async -> Void
    ) -> AdminListener {
        AdminListener(
            address: started.admin, givesWay: started.isAdminStandard, responder: adminResponder(readings),
            limiter: adminConnections, answers: answers,
            currentLimits: { self.inForce.withLock { $0.limits } }, onReady: onReady, logger: logger)
    }

    /// The routes for operators.
    private func adminResponder(_ readings: ServerReadings) -> any HTTPResponder<ServerContext> {
        let router = Router(context: ServerContext.self)
        router.add(middleware: requestLog)
        router.add(
            middleware: ProblemMiddleware(
                outages: outages, paths: "this listener has /console, /metrics, /healthz and /readyz"))
        router.add(middleware: RequestHeadMiddleware())
        // A page in a browser reaches no socket of the file system.
        if let host = started.admin.host { router.add(middleware: AdminHostMiddleware(listener: host)) }
        HealthRoutes(readiness: readiness, limited: limited, skew: appStoreClaims.skew).add(to: router)
        MetricsRoutes(metrics: metrics, readings: readings).add(to: router)
        ConsoleRoutes(
            ConsoleSurroundings(
                ledger: { self.inForce.withLock { $0.ledger } }, clock: clock, record: started.record,
                orders: AppleOrders(service: appStoreClaims),
                hasWebhook: { app, url in
                    self.inForce.withLock { $0.webhooks.contains { $0.app == app && $0.url.text == url } }
                }, tools: consoleTools, logger: logger),
            bodies: bodies.limited(to: AdminListener.bodyBytes), logger: logger
        )?.add(to: router)
        MethodRoutes().add(to: router)
        return router.buildResponder()
    }

    /// The HTTP server.
    ///
    /// - Parameters:
    ///   - logger: where to log.
    ///   - services: services that run beside the server and end after it.
    ///   - onReady: called once with the address, when the server accepts connections.
    func application(
        logger: Logger, services: [any Service], onReady: @escaping @Sendable (String) async -> Void
    ) -> some ApplicationProtocol {
        let (started, connections, answers, readiness) = (started, connections, answers, readiness)
        let certificate = certificate
        var application = Application(
            responder: Responder(server: self),
            server: HTTPServerBuilder { responder in
                let connection = HTTPConnection(
                    responder: responder, limiter: connections, answers: answers, isSecure: certificate != nil
                ) { self.inForce.withLock { $0.limits } }
                guard let certificate else { return connection }
                return try TLSConnection(connection, certificate)
            },
            configuration: ApplicationConfiguration(
                address: .hostname(started.host, port: started.port),
                serverName: "assay",
                availableConnectionsDelegate: MaximumAvailableConnections(
                    started.limits.connections + ConnectionLimiter.reserve)),
            services: services,
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? started.port
                let host = started.host.contains(":") ? "[\(started.host)]" : started.host
                await onReady("\(certificate == nil ? "http" : "https")://\(host):\(port)")
            },
            logger: logger)
        application.beforeServerStarts { await readiness.waitForFirst() }
        return application
    }

    /// Passes each request to the routes in force.
    private struct Responder: HTTPResponder {
        let server: ReloadableServer

        func respond(to request: Request, context: ServerContext) async throws -> Response {
            try await server.inForce.withLock { $0.responder }.respond(to: request, context: context)
        }
    }

    /// The responder until the first settings are in force.
    private struct NoResponder: HTTPResponder {
        func respond(to _: Request, context _: ServerContext) async throws -> Response {
            throw HTTPError(.serviceUnavailable)
        }
    }

    private func responder(
        _ configuration: ServerConfiguration, ledger: PurchaseLedger
    ) -> some HTTPResponder<ServerContext> {
        let router = Router(context: ServerContext.self)
        router.add(middleware: TraceMiddleware())
        router.add(middleware: requestLog)
        if let signer = configuration.answerSigner { router.add(middleware: AnswerSigningMiddleware(signer: signer)) }
        router.add(middleware: limited)
        router.add(middleware: ProblemMiddleware(outages: outages))
        router.add(middleware: RequestHeadMiddleware())
        router.add(middleware: ContentDigestMiddleware(bodies: bodies, limits: configuration.limits))
        if !configuration.trustedProxies.isEmpty {
            router.add(middleware: ClientAddressMiddleware(proxies: configuration.trustedProxies))
        }
        HealthRoutes(readiness: readiness, limited: limited, skew: appStoreClaims.skew).add(to: router)
        DescriptionRoutes().add(to: router)
        addPurchaseRoutes(to: router, ledger, configuration)
        NotificationRoutes(
            ledger: TimedLedger(ledger: ledger, deadlines: deadlines),
            bodies: bodies.limited(to: min(NotificationRoutes.bodyBytes, configuration.limits.bodyBytes)),
            workers: workers, lanes: notificationLanes, alarm: notificationAlarm, traces: traces, metrics: metrics,
            clock: clock
        ).add(to: router)
        RetentionRoutes(
            ledger: TimedLedger(ledger: ledger, deadlines: deadlines), access: appStoreAccess,
            rules: configuration.retention, apps: configuration.apps,
            bodies: bodies.limited(to: min(RetentionRoutes.bodyBytes, configuration.limits.bodyBytes)),
            workers: workers, lanes: notificationLanes, offerTime: offerTime, clock: clock
        ).add(to: router)
        StripeRoutes(
            ledger: TimedLedger(ledger: ledger, deadlines: deadlines), apps: configuration.apps,
            settings: configuration.stripe,
            bodies: bodies.limited(to: min(StripeRoutes.bodyBytes, configuration.limits.bodyBytes)), workers: workers,
            clock: clock
        ).add(to: router)
        let service = VerifyReceiptService(
            verifier: PurchaseVerifier(anchors: configuration.anchors), environments: configuration.environments,
            sharedSecret: configuration.sharedSecret, sharedSecrets: configuration.sharedSecrets,
            wrongSecrets: wrongSecrets, dropIn: configuration.dropInOfApps)
        VerifyReceiptRoutes(
            live: LiveAnswers(
                service: service, ledger: ledger, deadlines: stateDeadlines, workers: workers,
                news: missingNews, newsDeadlines: newsDeadlines),
            recording: ReceiptRecords(
                settings: configuration.dropInOfApps, recording: receiptRecording, ledger: ledger),
            clock: clock, bodies: bodies.limited(to: configuration.limits.bodyBytes), workers: workers,
            addresses: access.addresses, metrics: metrics, authorities: authorities
        ).add(to: router)
        MethodRoutes().add(to: router)
        return router.buildResponder()
    }

    /// Everything under `/v1`.
    private func addPurchaseRoutes(
        to router: Router<ServerContext>, _ ledger: PurchaseLedger, _ configuration: ServerConfiguration
    ) {
        let limits = configuration.limits
        let api = PurchaseAPIContext(
            ledger: TimedLedger(ledger: ledger, deadlines: deadlines),
            bodies: bodies.limited(to: min(limits.apiBodyBytes, limits.bodyBytes)), workers: workers,
            appStoreClaims: appStoreClaims, traces: traces, metrics: metrics)
        let group = router.group("v1")
            .add(
                middleware: AccessMiddleware(
                    keys: KeyCache(ledger: ledger, deadlines: deadlines, uptime: uptime), apps: configuration.apps,
                    limits: access, uses: uses,
                    uncountedAddresses: limits.uncountedAddresses + configuration.trustedProxies)
            )
            .add(middleware: QueryMiddleware())
        OrderRoutes(api: api).add(to: group)
        PurchaseRoutes(api: api).add(to: group)
        CustomerRoutes(api: api).add(to: group)
        AccountRoutes(api: api, signer: configuration.answerSigner).add(to: group)
        TimelineRoutes(api: api).add(to: group)
        SubmissionRoutes(api: api).add(to: group)
        RestoreRoutes(api: api).add(to: group)
        InspectionRoutes(api: api).add(to: group)
        EventRoutes(api: api, streams: streams).add(to: group)
        NotificationListRoutes(api: api).add(to: group)
        CompareRoutes(api: api, checkedBytes: min(limits.apiBodyBytes, limits.bodyBytes)).add(to: group)
        GroundRoutes(api: api).add(to: group)
        SeatRoutes(
            api: api,
            refresh: SubscriptionRefresh(access: appStoreAccess, evidence: appStoreClaims.evidence, logger: logger)
        ).add(to: group)
        RefundRoutes(api: api).add(to: group)
        ExternalPurchaseRoutes(api: api).add(to: group)
        OfferRoutes(api: api, access: appStoreAccess).add(to: group)
        ExtensionRoutes(api: api, service: extensions).add(to: group)
        GrantRoutes(api: api).add(to: group)
        OwnerRoutes(api: api).add(to: group)
        TesterRoutes(api: api).add(to: group)
        ProductRoutes(api: api).add(to: group)
        AppleOrderRoutes(api: api).add(to: group)
    }
}
