import Foundation
import Hummingbird
import HummingbirdCore
import Logging

/// The least that a server of this kind does with a request: collect the body and send it back. What `assay serve` does
/// beyond that is its own.
@main
enum EchoServer {
    /// As in `assay serve`: the largest body, how long a connection may be idle, and how many there may be.
    private static let bodyBytes = 24 << 20
    private static let idleSeconds: Int64 = 60
    private static let connections = 4096

    static func main() async throws {
        let router = Router()
        router.post("/echo") { request, _ in
            let body = try await request.body.collect(upTo: bodyBytes)
            return Response(
                status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
        }
        var logger = Logger(label: "echo") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        let application = Application(
            router: router,
            server: .http1(configuration: .init(idleTimeout: .seconds(idleSeconds))),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: 0),
                serverName: "echo",
                availableConnectionsDelegate: MaximumAvailableConnections(connections)),
            onServerRunning: { channel in
                let ready = "echo: ready on http://127.0.0.1:\(channel.localAddress?.port ?? 0)\n"
                FileHandle.standardOutput.write(Data(ready.utf8))
            },
            logger: logger)
        try await application.runService()
    }
}
