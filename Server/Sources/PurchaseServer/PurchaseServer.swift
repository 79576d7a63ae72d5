public import Foundation
public import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
public import PurchaseLedger
import PurchaseVerification

/// Builds the server as an application that can be run, or tested in the same process.
///
/// - Parameters:
///   - configuration: the settings.
///   - logger: where to log; messages are constant, facts are metadata, and no secret or receipt is among them.
///   - ledger: where purchases are recorded; without one the server answers `verifyReceipt` and nothing else.
///   - onReady: called once with the address, when the server takes connections.
///   - uptime: seconds since any moment, never going back; limits of requests in a time are counted by it.
public func purchaseServer(
    _ configuration: ServerConfiguration, ledger: PurchaseLedger? = nil, logger: Logger,
    onReady: @escaping @Sendable (String) async -> Void = { _ in },
    uptime: @escaping @Sendable () -> Double = { ProcessInfo.processInfo.systemUptime }
) -> some ApplicationProtocol {
    let router = Router(context: ServerContext.self)
    router.add(middleware: ProblemMiddleware())
    router.add(middleware: RequestHeadMiddleware())
    if !configuration.trustedProxies.isEmpty {
        router.add(middleware: ClientAddressMiddleware(proxies: configuration.trustedProxies))
    }
    let limits = configuration.limits
    let (bodies, workers) = (BodyReader(limits), WorkerPool(limit: limits.waitingVerifications))
    let addresses = RateLimiter(limits.perAddress, uptime: uptime)
    HealthRoutes(ledger: ledger, uptime: uptime).add(to: router)
    DescriptionRoutes().add(to: router)
    if let ledger {
        let api = PurchaseAPIContext(
            ledger: ledger, bodies: bodies.limited(to: limits.apiBodyBytes), workers: workers)
        addPurchaseRoutes(to: router, api, configuration, addresses, uptime)
    }
    VerifyReceiptRoutes(
        service: VerifyReceiptService(
            verifier: PurchaseVerifier(anchors: configuration.anchors),
            environments: configuration.environments,
            sharedSecret: configuration.sharedSecret, sharedSecrets: configuration.sharedSecrets,
            wrongSecrets: RateLimiter(limits.wrongSecrets, uptime: uptime)),
        bodies: bodies, workers: workers, addresses: addresses
    ).add(to: router)
    MethodRoutes().add(to: router)
    let limiter = ConnectionLimiter(
        limit: limits.connectionsPerAddress, exempt: limits.uncountedAddresses + configuration.trustedProxies)
    return Application(
        router: router,
        server: HTTPServerBuilder { HTTPConnection(responder: $0, limits: limits, limiter: limiter) },
        configuration: ApplicationConfiguration(
            address: .hostname(configuration.host, port: configuration.port),
            serverName: "assay",
            availableConnectionsDelegate: MaximumAvailableConnections(limits.connections)),
        onServerRunning: { channel in
            let port = channel.localAddress?.port ?? configuration.port
            let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
            await onReady("http://\(host):\(port)")
        },
        logger: logger)
}

/// Everything under `/v1`.
private func addPurchaseRoutes(
    to router: Router<ServerContext>, _ api: PurchaseAPIContext, _ configuration: ServerConfiguration,
    _ addresses: RateLimiter, _ uptime: @escaping @Sendable () -> Double
) {
    let group = router.group("v1")
        .add(
            middleware: AccessMiddleware(
                keys: KeyCache(ledger: api.ledger, uptime: uptime), apps: configuration.apps,
                limits: AccessLimits(configuration.limits, addresses: addresses, uptime: uptime)))
    OrderRoutes(api: api).add(to: group)
    PurchaseRoutes(api: api).add(to: group)
    CustomerRoutes(api: api).add(to: group)
    SubmissionRoutes(api: api).add(to: group)
    RestoreRoutes(api: api).add(to: group)
    EventRoutes(api: api).add(to: group)
    GrantRoutes(api: api).add(to: group)
    OwnerRoutes(api: api).add(to: group)
    TesterRoutes(api: api).add(to: group)
    ProductRoutes(api: api).add(to: group)
}
