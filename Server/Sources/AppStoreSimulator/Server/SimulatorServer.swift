public import EvidenceMint
import Foundation
import HTTPConnections
import HTTPTypes
public import Hummingbird
import HummingbirdCore
import HummingbirdTLS
public import Logging
import NIOCore
import NIOSSL

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
    let routes = Routes(router: router, service: service)
    routes.addPage(authority)
    routes.addVerifyReceipt()
    routes.addServerAPI()
    routes.addServerAPIControl(RetentionSender(sender))
    routes.addCatalog(configuration)
    routes.addLists(target)
    routes.addPurchases()
    routes.addSubscriptions()
    routes.addApps()
    routes.addDelivery(target)
    routes.addFaults()
    routes.addNotifications(dispatch)
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

/// The certificates of the simulator's HTTPS: the valid one, and one for each fault.
struct StoreCertificates: Sendable {
    private let valid: Certificate
    private let faulty: [CertificateFault.Kind: Certificate]

    /// A chain and its key.
    private struct Certificate: Sendable {
        let chain: [NIOSSLCertificateSource]
        let key: NIOSSLPrivateKeySource

        init(_ server: SigningIdentity, _ authority: ServerCertificateAuthority) throws {
            chain = [
                .certificate(try NIOSSLCertificate(bytes: server.certificate, format: .der)),
                .certificate(try NIOSSLCertificate(bytes: authority.root.certificate, format: .der)),
            ]
            key = .privateKey(try NIOSSLPrivateKey(bytes: Array(server.privateKey.pem.utf8), format: .pem))
        }
    }

    /// - Parameters:
    ///   - authority: the authority that clients trust.
    ///   - hosts: the names and addresses of the simulator.
    ///   - now: the real time; a client checks certificates by its own clock, not by the store's.
    init(_ authority: ServerCertificateAuthority, hosts: [String], now: Date) throws {
        let day = 86_400.0
        valid = try Certificate(authority.certificate(for: hosts), authority)
        let stranger = try ServerCertificateAuthority()
        faulty = [
            .wrongHost: try Certificate(authority.certificate(for: ["wrong.example"]), authority),
            .expired: try Certificate(
                authority.certificate(
                    for: hosts, notBefore: now.addingTimeInterval(-30 * day), notAfter: now.addingTimeInterval(-day)),
                authority),
            .unknownIssuer: try Certificate(stranger.certificate(for: hosts), stranger),
        ]
    }

    /// TLS that asks for the fault of each connection when it begins.
    func configuration(_ takeFault: @escaping @Sendable () async throws -> CertificateFault.Kind?) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: valid.chain, privateKey: valid.key)
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        let faulty = faulty
        configuration.sslContextCallback = { _, promise in
            promise.completeWithTask {
                guard let fault = try await takeFault(), let certificate = faulty[fault] else { return .noChanges }
                var override = NIOSSLContextConfigurationOverride()
                override.certificateChain = certificate.chain
                override.privateKey = certificate.key
                return override
            }
        }
        return configuration
    }
}
