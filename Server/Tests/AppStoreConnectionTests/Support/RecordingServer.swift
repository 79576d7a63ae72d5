import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import Synchronization

/// A server that records requests as received, and answers as a test specifies.
final class RecordingServer: Sendable {
    struct Request: Sendable {
        let head: HTTPRequestHead
        let body: String
        /// The number of the connection, from 1.
        let connection: Int
        /// The number of the request, from 1.
        let number: Int
    }

    struct Reply: Sendable {
        var status = HTTPResponseStatus.ok
        var headers: HTTPHeaders = ["content-type": "application/json"]
        var body = #"{"status":0,"environment":"Production","receipt":{"in_app":[]}}"#

        static func status(_ status: Int) -> Reply { Reply(body: "{\"status\":\(status)}") }
    }

    private let state = Mutex(State())
    private let answer: @Sendable (Request) async -> Reply

    private struct State {
        var requests: [Request] = []
        var connections = 0
    }

    private init(_ answer: @escaping @Sendable (Request) async -> Reply) {
        self.answer = answer
    }

    /// Runs a server on a free port while the body runs.
    static func run(
        answer: @escaping @Sendable (Request) async -> Reply = { _ in Reply() },
        _ body: @Sendable (RecordingServer, Int) async throws -> Void
    ) async throws {
        let server = RecordingServer(answer)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 512)
            .childChannelInitializer { channel in
                let connection = server.state.withLock { state in
                    state.connections += 1
                    return state.connections
                }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(HTTPResponseCompressor())
                    try pipeline.addHandler(Handler(server, connection))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await body(server, channel.localAddress?.port ?? 0)
        } catch {
            try await channel.close().get()
            throw error
        }
        try await channel.close().get()
    }

    var requests: [Request] { state.withLock { $0.requests } }

    private func add(_ head: HTTPRequestHead, _ body: String, _ connection: Int) -> Request {
        state.withLock { state in
            let request = Request(head: head, body: body, connection: connection, number: state.requests.count + 1)
            state.requests.append(request)
            return request
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let server: RecordingServer
        private let connection: Int
        private var head: HTTPRequestHead?
        private var body = ByteBuffer()

        init(_ server: RecordingServer, _ connection: Int) {
            self.server = server
            self.connection = connection
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                self.head = head
                body.clear()
            case .body(var part): body.writeBuffer(&part)
            case .end:
                guard let head else { return }
                let request = server.add(head, String(buffer: body), connection)
                let channel = context.channel
                let answer = server.answer
                Task {
                    let reply = await answer(request)
                    var headers = reply.headers
                    headers.replaceOrAdd(name: "content-length", value: "\(reply.body.utf8.count)")
                    let head = HTTPResponseHead(version: .http1_1, status: reply.status, headers: headers)
                    channel.write(HTTPServerResponsePart.head(head), promise: nil)
                    channel.write(
                        HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: reply.body))), promise: nil)
                    channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
                }
            }
        }
    }
}
