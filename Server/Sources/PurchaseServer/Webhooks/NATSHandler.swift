import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Publishes the request of a delivery as a message to NATS JetStream, and makes its acknowledgement the answer.
///
/// It is below a `WebhookExchangeHandler`, which limits the time, checks the certificate and sends one message after
/// the other. With TLS, that handler writes nothing before the check, so neither does this one.
final class NATSHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = ByteBuffer

    private let credentials: NATSCredentials?
    /// Makes the handler of TLS, which begins after the first `INFO`; `nil` without TLS.
    private let tls: (() throws -> NIOSSLClientHandler)?
    private let inbox = "_INBOX.\(UInt64.random(in: 0 ... .max))"
    private var parser = NATSParser()
    private var server: Server?
    private var stage = Stage.greeting
    private var request: (head: HTTPRequestHead, body: ByteBuffer, isWhole: Bool)?
    /// The subject of the acknowledgement that is expected. Nobody can guess it.
    private var reply: String?
    private var operations = 0

    private enum Stage { case greeting, connecting, open, failed }

    /// What a server says about itself in `INFO`.
    private struct Server: Decodable {
        let maxPayload: Int?
        let tlsRequired: Bool?
        let tlsAvailable: Bool?
        let headers: Bool?
        let nonce: String?
        /// Whether it is about to stop: a lame duck.
        let ldm: Bool?
    }

    private struct Acknowledgement: Decodable {
        let stream: String?
        let seq: UInt64?
        let error: Refusal?

        struct Refusal: Decodable { let description: String? }
    }

    init(_ credentials: NATSCredentials?, tls: (() throws -> NIOSSLClientHandler)?) {
        (self.credentials, self.tls) = (credentials, tls)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): request = (head, ByteBuffer(), false)
        case .body(.byteBuffer(let part)): request?.body.writeImmutableBuffer(part)
        case .body: break
        case .end:
            request?.isWhole = true
            run(context)
        }
        promise?.succeed()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // While TLS closes it goes on reading.
        guard stage != .failed else { return }
        parser.append(unwrapInboundIn(data))
        run(context)
    }

    /// Takes what arrived, and does what can be done next.
    private func run(_ context: ChannelHandlerContext) {
        guard stage != .failed else { return }
        do {
            while let operation = try parser.next() {
                operations += 1
                // Between two acknowledgements a server sends a few.
                guard operations <= 64 else { throw WebhookFailure(.malformed) }
                try take(operation, context)
            }
            try proceed(context)
        } catch {
            // The handler above closes the connection.
            stage = .failed
            context.fireErrorCaught(error)
        }
    }

    private func take(_ operation: NATSOperation, _ context: ChannelHandlerContext) throws {
        switch operation {
        case .info(let json): try greet(json, context)
        case .ping: send(context, "PONG")
        case .ok: break
        case .pong: if stage == .connecting { stage = .open }
        case .error(let text): throw WebhookFailure(.refused, Self.refusal(text))
        case .message(let subject, let status, let payload):
            guard subject == reply else { return }
            reply = nil
            try judge(status, payload)
            operations = 0
            let head = HTTPResponseHead(
                version: .http1_1, status: .ok, headers: server?.ldm == true ? ["connection": "close"] : [:])
            context.fireChannelRead(wrapInboundOut(.head(head)))
            context.fireChannelRead(wrapInboundOut(.end(nil)))
        }
    }

    private func judge(_ status: Int?, _ payload: [UInt8]) throws {
        guard status != 503 else {
            throw WebhookFailure(
                .noStream, "no stream of JetStream answers for the subject; create one, or wait for its leader")
        }
        let acknowledgement = try Self.decode(Acknowledgement.self, payload)
        if let error = acknowledgement.error {
            throw WebhookFailure(.refused, Self.refusal(error.description ?? "no reason is given"))
        }
        guard acknowledgement.stream?.isEmpty == false, acknowledgement.seq.map({ $0 > 0 }) == true else {
            throw WebhookFailure(.malformed)
        }
    }

    private func greet(_ json: [UInt8], _ context: ChannelHandlerContext) throws {
        let (isFirst, server) = (server == nil, try Self.decode(Server.self, json))
        self.server = server
        if server.ldm == true, reply == nil, request == nil { context.close(promise: nil) }
        guard isFirst else { return }
        guard server.headers == true else { throw WebhookFailure(.refused, "the server takes no headers") }
        if tls == nil, server.tlsRequired == true { throw WebhookFailure(.tls, "the server requires tls://") }
        guard let tls else { return }
        // What comes in clear text after it is not the server's word.
        guard server.tlsRequired == true || server.tlsAvailable == true, parser.isEmpty else {
            throw WebhookFailure(.tls, "the server offers no TLS")
        }
        try context.pipeline.syncOperations.addHandler(try tls(), position: .first)
    }

    /// Connects, or publishes, when there is a request and the server is ready for it.
    private func proceed(_ context: ChannelHandlerContext) throws {
        guard let server, let request, request.isWhole else { return }
        switch stage {
        case .connecting, .failed: break
        case .greeting:
            stage = .connecting
            send(context, "CONNECT {\(try options(server))}\r\nSUB \(inbox).* 1\r\nPING")
        case .open:
            self.request = nil
            let headers = request.head.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
            let head = "NATS/1.0\r\n\(headers)\r\n"
            let bytes = head.utf8.count + request.body.readableBytes
            if let limit = server.maxPayload, bytes > limit {
                throw WebhookFailure(.refused, "the message has \(bytes) bytes, and the server takes \(limit)")
            }
            let reply = "\(inbox).\(UInt64.random(in: 0 ... .max))"
            self.reply = reply
            let line = "HPUB \(request.head.uri) \(reply) \(head.utf8.count) \(bytes)\r\n"
            send(context, line + head, request.body)
        }
    }

    /// The members of `CONNECT`. Protocol 1 lets the server send `INFO` again.
    private func options(_ server: Server) throws -> String {
        let user = try credentials.map {
            #","jwt":"\#($0.token)","sig":"\#(try $0.signature(of: server.nonce ?? ""))""#
        }
        return """
            "verbose":false,"pedantic":false,"name":"assay","lang":"swift","version":"1","protocol":1,"headers":true,\
            "no_responders":true,"tls_required":\(tls != nil)\(user ?? "")
            """
    }

    private func send(_ context: ChannelHandlerContext, _ text: String, _ body: ByteBuffer = ByteBuffer()) {
        var buffer = ByteBuffer(string: text)
        buffer.writeImmutableBuffer(body)
        buffer.writeString("\r\n")
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }

    private static func decode<Value: Decodable>(_: Value.Type, _ json: [UInt8]) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Value.self, from: Data(json))
    }

    /// The reason of a refusal, without the subject, which a server repeats in quotation marks.
    private static func refusal(_ text: String) -> String {
        if text.hasPrefix("Permissions Violation for Publish") { return "the user may not publish to the subject" }
        if text.hasPrefix("Permissions Violation for Sub") { return "the user may not subscribe to _INBOX.>" }
        let printable = text.unicodeScalars.filter { (" "..."~").contains($0) }.prefix { $0 != "\"" }.prefix(100)
        return String(String.UnicodeScalarView(printable))
    }
}
