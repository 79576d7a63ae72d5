import NIOCore
import NIOPosix
import NIOSSL
import PurchaseServer
import Synchronization
import Testing

/// A NATS server on loopback that plays what a test specifies.
final class NATSServer: Sendable {
    struct Play: Sendable {
        /// What it says first.
        var greeting = info()
        /// What it says to `CONNECT`, and does not answer `PING` if it is there.
        var refusal: String?
        /// What it says to a message; `REPLY` is the subject of the acknowledgement.
        var answer = message(#"{"stream":"EVENTS","seq":7}"#)
        /// Whether it closes after that.
        var closes = false
        /// Whether TLS begins after the greeting.
        var isSecure = false
    }

    static func info(_ members: String = "") -> String {
        #"INFO {"server_id":"A","version":"2.15.1","headers":true,"max_payload":1048576,"nonce":"n"\#(members)} "#
            + "\r\n"
    }

    static func message(_ payload: String) -> String { "MSG REPLY 1 \(payload.utf8.count)\r\n\(payload)\r\n" }

    private let state = Mutex(State())
    private let channel = Mutex<(any Channel)?>(nil)

    private struct State {
        var play = Play()
        var connections = 0
        var lines: [String] = []
        var messages: [String] = []
    }

    var connections: Int { state.withLock { $0.connections } }
    /// The lines that it got, without those of messages.
    var lines: [String] { state.withLock { $0.lines } }
    /// The headers and bodies of messages.
    var messages: [String] { state.withLock { $0.messages } }
    var port: Int { channel.withLock { $0?.localAddress?.port ?? 0 } }

    func play(_ play: Play) { state.withLock { $0.play = play } }

    static func run<Value>(_ play: Play = Play(), _ body: (NATSServer) async throws -> Value) async throws -> Value {
        let server = NATSServer()
        server.play(play)
        let tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: NIOSSLCertificate.fromPEMBytes(Array(ReceiverCertificate.certificate.utf8))
                    .map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(bytes: Array(ReceiverCertificate.key.utf8), format: .pem))))
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(server, tls))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        server.channel.withLock { $0 = channel }
        do {
            let value = try await body(server)
            try await channel.close()
            return value
        } catch {
            try await channel.close()
            throw error
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let server: NATSServer
        private let tls: NIOSSLContext
        private let play: Play
        private var text = ""

        init(_ server: NATSServer, _ tls: NIOSSLContext) {
            (self.server, self.tls) = (server, tls)
            play = server.state.withLock { state in
                state.connections += 1
                return state.play
            }
        }

        func channelActive(context: ChannelHandlerContext) {
            say(play.greeting, context)
            guard play.isSecure else { return }
            do {
                let handler = NIOSSLServerHandler(context: tls)
                try context.pipeline.syncOperations.addHandler(handler, position: .first)
            } catch {
                Issue.record("\(error)")
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            while let end = text.firstRange(of: "\r\n") {
                let line = String(text[..<end.lowerBound])
                let words = line.split(separator: " ")
                guard words.first == "HPUB" else {
                    text = String(text[end.upperBound...])
                    server.state.withLock { $0.lines.append(line) }
                    if words.first == "CONNECT", let refusal = play.refusal { say(refusal, context) }
                    if line == "PING", play.refusal == nil { say("PONG\r\n", context) }
                    continue
                }
                let rest = text[end.upperBound...]
                guard let bytes = words.last.flatMap({ Int($0) }), rest.utf8.count >= bytes + 2 else { return }
                server.state.withLock { $0.messages.append(String(decoding: rest.utf8.prefix(bytes), as: UTF8.self)) }
                text = String(decoding: rest.utf8.dropFirst(bytes + 2), as: UTF8.self)
                say(play.answer.replacing("REPLY", with: words[2]), context)
                if play.closes { context.close(promise: nil) }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func say(_ text: String, _ context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        }
    }
}
