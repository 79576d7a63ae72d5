public import EvidenceMint
import Foundation
import HTTPConnections
import HTTPTypes
public import Hummingbird
import HummingbirdCore
import HummingbirdTLS
public import Logging
import NIOCore

/// Builds a simulated App Store as an application that can be run, or tested in the same process: `verifyReceipt`, the
/// control API, its OpenAPI document, and a page for people.
///
/// ```swift
/// let authority = try AppStoreAuthority(folder: URL(fileURLWithPath: "assay-authority"))
/// let server = try simulatorServer(SimulatorConfiguration(), authority: authority, logger: Logger(label: "store"))
/// try await server.runService()
/// ```
///
/// - Parameters:
///   - configuration: the settings.
///   - authority: signs the evidence. A verifier must trust its `trustedCertificatesPEM`; Apple's roots do not vouch
///     for it.
///   - logger: the logger of the server.
///   - onReady: called once with the address, when the server accepts connections.
///   - onHTTPSReady: the same for HTTPS, if the settings have it.
/// - Throws: `SimulatorConfigurationError`.
public func simulatorServer(
    _ configuration: SimulatorConfiguration, authority: AppStoreAuthority, logger: Logger,
    onReady: @escaping @Sendable (String) async -> Void = { _ in },
    onHTTPSReady: @escaping @Sendable (String) async -> Void = { _ in }
) throws -> some ApplicationProtocol {
    let allowedHosts = try configuration.hostNames()
    if let url = configuration.notificationURL, !NotificationSettings.isAddress(url) {
        throw SimulatorConfigurationError.invalidNotificationURL(url)
    }
    let storage: any StateStorage
    if let path = configuration.database {
        storage = try SQLiteStateStorage(path: path)
    } else {
        storage = NoStateStorage()
    }
    let target = configuration.target ?? EvidenceTarget()
    if let server = configuration.server { try target.set(server, key: configuration.serverKey) }
    let notificationURL =
        configuration.notificationURL ?? (target.takesNotifications ? EvidenceTarget.unknownNotificationURL : nil)
    let service = try StoreService(
        authority: authority, storage: storage, clock: configuration.clock,
        firstTransaction: configuration.firstTransaction, environmentNames: configuration.environmentNames,
        notificationURL: notificationURL, time: configuration.time, world: { Date() })
    let sender = try NotificationSender(
        issuer: service.issuer, trustFile: configuration.notificationTrustFile,
        limit: configuration.notificationTimeLimit)
    let dispatch = NotificationDispatch(service: service, sender: sender, target: target, logger: logger)
    let router = Router(context: SimulatorRequestContext.self)
    router.add(middleware: SimulatorLogMiddleware())
    router.add(middleware: SimulatorProblemMiddleware())
    PageRoutes(authority: authority).add(to: router)
    StoreVerifyReceiptRoutes(service: service).add(to: router)
    CatalogRoutes(service: service, configuration: configuration).add(to: router)
    ListRoutes(service: service, target: target).add(to: router)
    DeliveryRoutes(service: service, target: target).add(to: router)
    StorePurchaseRoutes(service: service).add(to: router)
    AppRoutes(service: service).add(to: router)
    SubscriptionRoutes(service: service).add(to: router)
    ClockRoutes(service: service).add(to: router)
    FaultRoutes(service: service).add(to: router)
    ServerAPIRoutes(service: service).add(to: router)
    ServerAPIControlRoutes(service: service, retention: RetentionSender(sender)).add(to: router)
    NotificationRoutes(service: service, dispatch: dispatch).add(to: router)
    let responder = RequestGate(allowedHosts: allowedHosts, next: router.buildResponder())
    let answers = AnswerBudget()
    let plain = HTTPServerBuilder.http1(
        configuration: .init(
            additionalChannelHandlers: [
                PipelineHandler(budget: answers, unreadLimit: .seconds(SimulatorLimits.unreadSeconds))
            ],
            idleTimeout: .seconds(60),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: SimulatorLimits.headerFieldBytes, maxHeaderListSize: SimulatorLimits.headerBytes)))
    @Sendable func address(_ scheme: String, _ channel: any Channel, _ port: Int) -> String {
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        return "\(scheme)://\(host):\(channel.localAddress?.port ?? port)"
    }
    var application = Application(
        responder: responder, server: plain,
        configuration: ApplicationConfiguration(
            address: .hostname(configuration.host, port: configuration.port), serverName: "assay-simulator"),
        onServerRunning: { channel in
            if !configuration.shops.isEmpty {
                do {
                    let products = try await service.change { state, _ in
                        for shop in configuration.shops { try state.open(shop, configuration.environmentNames) }
                        return state.store.products
                    }
                    await configuration.onProducts?(products)
                } catch {
                    logger.error("the apps of the settings are not in the store", metadata: ["error": "\(error)"])
                }
            }
            await onReady(address("http", channel, configuration.port))
        },
        logger: logger)
    application.addServices(dispatch)
    if let https = configuration.https {
        let certificates = try StoreCertificates(https.authority, hosts: configuration.certifiedHosts, now: Date())
        let tls = certificates.configuration { try await service.takeCertificateFault() }
        // The same routes over the same state: a service of the first one.
        application.addServices(
            Application(
                responder: responder, server: try .tls(plain, tlsConfiguration: tls),
                configuration: ApplicationConfiguration(
                    address: .hostname(configuration.host, port: https.port), serverName: "assay-simulator"),
                onServerRunning: { await onHTTPSReady(address("https", $0, https.port)) },
                logger: logger))
    }
    return application
}

/// Logs one line for each request: method, route, status, code and duration. No value in it was chosen by the client.
struct SimulatorLogMiddleware: RouterMiddleware {
    private let clock = ContinuousClock()

    func handle(
        _ request: Request, context: SimulatorRequestContext,
        next: (Request, SimulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = clock.now
        let response = try await next(request, context)
        let milliseconds = (clock.now - start) / .milliseconds(1)
        var facts: Logger.Metadata = [
            "method": "\(Self.methods.contains(request.method) ? request.method.rawValue : "other")",
            "route": "\(context.endpointPath ?? "none")",
            "status": .stringConvertible(response.status.code),
            "duration_ms": .stringConvertible((milliseconds * 1000).rounded() / 1000),
        ]
        if let code = response.headers[.assayReason] { facts["code"] = "\(code)" }
        context.logger.info("request", metadata: facts)
        return response
    }

    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
}

extension HTTPField.Name {
    /// The stable code of an answer that refuses something. The fallback cannot happen: the name is a valid token.
    static let assayReason = HTTPField.Name("Assay-Reason") ?? .server
}
