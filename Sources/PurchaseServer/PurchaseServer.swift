public import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
import PurchaseVerification

/// Builds the server as an application that can be run, or tested in the same process.
///
/// - Parameters:
///   - configuration: the settings.
///   - logger: where to log; messages are constant, facts are metadata, and no secret or receipt is among them.
///   - onReady: called once with the address, when the server takes connections.
public func purchaseServer(
    _ configuration: ServerConfiguration, logger: Logger,
    onReady: @escaping @Sendable (String) async -> Void = { _ in }
) -> some ApplicationProtocol {
    let router = Router()
    router.add(middleware: ProblemMiddleware())
    HealthRoutes().add(to: router)
    VerifyReceiptRoutes(
        service: VerifyReceiptService(
            verifier: PurchaseVerifier(anchors: configuration.anchors),
            environments: configuration.environments,
            sharedSecret: configuration.sharedSecret),
        limits: configuration.limits
    ).add(to: router)
    let headLimit = TimeAmount.seconds(configuration.limits.idleSeconds)
    let bodyLimit = TimeAmount.seconds(configuration.limits.requestSeconds)
    return Application(
        router: router,
        server: .http1(
            configuration: .init(
                additionalChannelHandlers: [RequestDeadlineHandler(headLimit: headLimit, bodyLimit: bodyLimit)],
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
