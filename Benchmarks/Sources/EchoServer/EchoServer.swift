import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOFoundationCompat
import PurchaseServer

/// Handles requests with the library alone: the lower bound for every answer of `assay serve`.
///
///     echo-server          /echo and /json in the server of `assay serve`
///     echo-server --bare   /echo in a server with nothing of Assay's in it
@main
enum EchoServer {
    private static let limits = PurchaseServer.ServerConfiguration.Limits()

    static func main() async throws {
        var logger = Logger(label: "echo") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        if CommandLine.arguments.contains("--bare") {
            try await bare(logger).runService()
        } else {
            let folder = FileManager.default.temporaryDirectory.appending(path: "assay-echo-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            var configuration = PurchaseServer.ServerConfiguration()
            configuration.port = 0
            configuration.database = "sqlite:\(folder.appending(path: "assay.sqlite").path)"
            configuration.record.folder = folder.path
            let server = try await startPurchaseServer(configuration, logger: logger)
            let application = EchoApplication(
                base: server.application(onReady: ready), responder: router().buildResponder())
            try await application.runService()
            try await server.close()
            try FileManager.default.removeItem(at: folder)
        }
    }

    /// The minimal work of a server of this kind for a request: collect the body and send it back.
    private static func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.post("/echo") { request, _ in
            let body = try await request.body.collect(upTo: limits.bodyBytes)
            return Response(
                status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
        }
        // The same, but the library also reads and writes the body as JSON.
        router.post("/json") { request, _ in
            let body = try await request.body.collect(upTo: limits.bodyBytes)
            let object = try JSONDecoder().decode([String: String].self, from: Data(buffer: body))
            return Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(data: try JSONEncoder().encode(object))))
        }
        return router
    }

    private static func bare(_ logger: Logger) -> some ApplicationProtocol {
        Application(
            router: router(),
            server: .http1(configuration: .init(idleTimeout: .seconds(limits.idleSeconds))),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: 0),
                serverName: "echo",
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections)),
            onServerRunning: { channel in await ready("http://127.0.0.1:\(channel.localAddress?.port ?? 0)") },
            logger: logger)
    }

    @Sendable private static func ready(_ address: String) async {
        FileHandle.standardOutput.write(Data("echo: ready on \(address)\n".utf8))
    }
}

/// The server of `assay serve`, with its channel handlers, threads and limits, but with other routes.
struct EchoApplication<Base: ApplicationProtocol>: ApplicationProtocol {
    let base: Base
    let responder: RouterResponder<BasicRequestContext>

    var server: HTTPServerBuilder { base.server }
    var configuration: ApplicationConfiguration { base.configuration }
    var eventLoopGroup: any EventLoopGroup { base.eventLoopGroup }
    var logger: Logger { base.logger }

    func onServerRunning(_ channel: any Channel) async { await base.onServerRunning(channel) }
}
