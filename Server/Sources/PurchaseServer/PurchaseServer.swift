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
    if !configuration.trustedProxies.isEmpty {
        router.add(middleware: ClientAddressMiddleware(proxies: configuration.trustedProxies))
    }
    router.add(middleware: ProblemMiddleware())
    HealthRoutes(ledger: ledger, uptime: uptime).add(to: router)
    DescriptionRoutes().add(to: router)
    if let ledger { addPurchaseRoutes(to: router, ledger: ledger, configuration, uptime) }
    VerifyReceiptRoutes(
        service: VerifyReceiptService(
            verifier: PurchaseVerifier(anchors: configuration.anchors),
            environments: configuration.environments,
            sharedSecret: configuration.sharedSecret, sharedSecrets: configuration.sharedSecrets),
        limits: configuration.limits
    ).add(to: router)
    MethodRoutes().add(to: router)
    let headLimit = TimeAmount.seconds(configuration.limits.idleSeconds)
    let bodyLimit = TimeAmount.seconds(configuration.limits.requestSeconds)
    return Application(
        router: router,
        server: .http1(
            configuration: .init(
                additionalChannelHandlers: [
                    RequestDeadlineHandler(headLimit: headLimit, bodyLimit: bodyLimit), ContinueHandler(),
                ],
                idleTimeout: .seconds(configuration.limits.idleSeconds))),
        configuration: ApplicationConfiguration(
            address: .hostname(configuration.host, port: configuration.port),
            serverName: "assay",
            availableConnectionsDelegate: MaximumAvailableConnections(configuration.limits.connections)),
        onServerRunning: { channel in
            let port = channel.localAddress?.port ?? configuration.port
            let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
            await onReady("http://\(host):\(port)")
        },
        logger: logger)
}

/// Everything under `/v1`.
private func addPurchaseRoutes(
    to router: Router<ServerContext>, ledger: PurchaseLedger, _ configuration: ServerConfiguration,
    _ uptime: @escaping @Sendable () -> Double
) {
    let api = PurchaseAPIContext(ledger: ledger, bodies: BodyReader(configuration.limits))
    let group = router.group("v1")
        .add(
            middleware: AccessMiddleware(
                ledger: ledger, apps: configuration.apps,
                addresses: RateLimiter(configuration.limits.perAddress, uptime: uptime),
                keys: RateLimiter(configuration.limits.perKey, uptime: uptime)))
    OrderRoutes(api: api).add(to: group)
    PurchaseRoutes(api: api).add(to: group)
    CustomerRoutes(api: api).add(to: group)
    SubmissionRoutes(api: api).add(to: group)
}
