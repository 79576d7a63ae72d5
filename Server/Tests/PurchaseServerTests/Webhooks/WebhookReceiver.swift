import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import Testing

/// A receiver of webhooks on loopback, which answers as a test specifies.
final class WebhookReceiver: Sendable {
    /// A request that was received.
    struct Delivery: Sendable {
        let id: String
        let headers: [String: String]
        let body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }

        /// A member of the body that is a text.
        func member(_ name: String) -> String? {
            let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
            return object?[name] as? String
        }
    }

    /// How it answers a request.
    enum Reaction: Sendable {
        case answer(Int, headers: [String: String] = [:], bodyBytes: Int = 0)
        /// Sends these bytes unchanged, and closes.
        case raw(String)
        case close
        /// Sends this text one byte at a time, repeatedly, until the connection is closed.
        case drip(String)
        /// Answers 204 after a pause.
        case late(TimeAmount)
        case silence
    }

    private let state = Mutex(State())
    private let channel: any Channel
    let port: Int

    private struct State {
        var deliveries: [Delivery] = []
        var connections = 0
        var atOnce = 0
        var mostAtOnce = 0
        var react: @Sendable (Delivery, Int) -> Reaction = { _, _ in .answer(204) }
    }

    private init(_ bootstrap: ServerBootstrap, _ install: @escaping @Sendable (any Channel) throws -> Void) async throws
    {
        let made = ReceiverBox()
        channel = try await bootstrap.childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try install(channel)
                try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: false)
                try channel.pipeline.syncOperations.addHandler(ReceiverHandler(made))
            }
        }.bind(host: "127.0.0.1", port: 0).get()
        port = try #require(channel.localAddress?.port)
        made.set(self)
    }

    /// Runs the body with a receiver.
    static func run<Value>(
        tls: Bool = false, _ react: @escaping @Sendable (Delivery, Int) -> Reaction = { _, _ in .answer(204) },
        _ body: (WebhookReceiver) async throws -> Value
    ) async throws -> Value {
        var context: NIOSSLContext?
        if tls {
            context = try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: NIOSSLCertificate.fromPEMBytes(Array(ReceiverCertificate.certificate.utf8))
                        .map { .certificate($0) },
                    privateKey: .privateKey(
                        NIOSSLPrivateKey(bytes: Array(ReceiverCertificate.key.utf8), format: .pem))))
        }
        let server = context
        let receiver = try await WebhookReceiver(
            ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        ) { channel in
            if let server { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: server)) }
        }
        receiver.react(react)
        do {
            let value = try await body(receiver)
            try await receiver.channel.close()
            return value
        } catch {
            try await receiver.channel.close()
            throw error
        }
    }

    /// Changes how it answers. The closure gets the delivery, and the number of earlier ones with its id.
    func react(_ react: @escaping @Sendable (Delivery, Int) -> Reaction) { state.withLock { $0.react = react } }

    /// All received requests, in order.
    var deliveries: [Delivery] { state.withLock { $0.deliveries } }
    var connections: Int { state.withLock { $0.connections } }
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    /// Waits until a condition holds, for ten minutes at most.
    func wait(_ what: String, _ condition: ([Delivery]) -> Bool) async throws {
        for _ in 0..<30_000 {
            if condition(deliveries) { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("\(what): it has \(deliveries.count) deliveries")
    }

    fileprivate func opened() { state.withLock { $0.connections += 1 } }

    fileprivate func received(_ delivery: Delivery) -> Reaction {
        state.withLock { state in
            let before = state.deliveries.count { $0.id == delivery.id }
            state.deliveries.append(delivery)
            state.atOnce += 1
            state.mostAtOnce = max(state.mostAtOnce, state.atOnce)
            return state.react(delivery, before)
        }
    }

    fileprivate func answered() { state.withLock { $0.atOnce -= 1 } }
}

/// The receiver, which exists after its first handler.
private final class ReceiverBox: Sendable {
    private let receiver = Mutex<WebhookReceiver?>(nil)

    func set(_ value: WebhookReceiver) { receiver.withLock { $0 = value } }
    var value: WebhookReceiver? { receiver.withLock { $0 } }
}

private final class ReceiverHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let box: ReceiverBox
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ box: ReceiverBox) { self.box = box }

    func channelActive(context: ChannelHandlerContext) { box.value?.opened() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, [])
        case .body(let part): body += Array(part.readableBytesView)
        case .end:
            guard let head, let receiver = box.value else { return context.close(promise: nil) }
            let headers = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { $0 + "," + $1 }
            let delivery = WebhookReceiver.Delivery(id: headers["webhook-id"] ?? "", headers: headers, body: body)
            react(receiver.received(delivery), receiver, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func drip(
        _ bytes: [UInt8], _ place: Int, _ bound: NIOLoopBound<(ReceiverHandler, ChannelHandlerContext)>
    ) {
        let (_, context) = bound.value
        guard context.channel.isActive else { return }
        do {
            let encoder = try context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
            let byte = bytes[place % bytes.count]
            encoder.writeAndFlush(NIOAny(ByteBuffer(bytes: [byte])), promise: nil)
        } catch {
            // The connection was closed.
            return
        }
        context.eventLoop.scheduleTask(in: .milliseconds(2)) {
            bound.value.0.drip(bytes, place + 1, bound)
        }
    }

    private func react(
        _ reaction: WebhookReceiver.Reaction, _ receiver: WebhookReceiver, _ context: ChannelHandlerContext
    ) {
        switch reaction {
        case .silence: break
        case .close:
            receiver.answered()
            context.close(promise: nil)
        case .raw(let text):
            receiver.answered()
            do {
                // Below the HTTP codec.
                let encoder = try context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
                encoder.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil)
            } catch {
                Issue.record("the receiver has no codec: \(error)")
            }
            context.close(promise: nil)
        case .drip(let text):
            receiver.answered()
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            drip(Array(text.utf8), 0, bound)
        case .late(let pause):
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: pause) {
                let (handler, context) = bound.value
                handler.react(.answer(204), receiver, context)
            }
        case .answer(let status, let headers, let bytes):
            receiver.answered()
            var fields = HTTPHeaders(headers.map { ($0.key, $0.value) })
            if headers["content-length"] == nil, status != 204 {
                fields.add(name: "content-length", value: "\(bytes)")
            }
            let head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: fields)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            if bytes > 0 {
                context.write(
                    wrapOutboundOut(.body(.byteBuffer(ByteBuffer(repeating: 0x78, count: bytes)))), promise: nil)
            }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            if headers["content-length"] != nil { context.close(promise: nil) }
        }
    }
}

/// A certificate for tests of TLS, for hooks.example and 127.0.0.1, from 2020 to 2119. Its authority is not trusted.
enum ReceiverCertificate {
    /// The authority, in PEM.
    static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBYjCCAQegAwIBAgIBATAKBggqhkjOPQQDAjAfMR0wGwYDVQQDDBRBc3NheSB0
        ZXN0IGF1dGhvcml0eTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFow
        HzEdMBsGA1UEAwwUQXNzYXkgdGVzdCBhdXRob3JpdHkwWTATBgcqhkjOPQIBBggq
        hkjOPQMBBwNCAAR3z/r8rFKY+2eNDTrTo+6Y6dorhKwbpcY1bYY0c3KGT+Kputv4
        30SgIBNXt/GHCBuhiQzMdjVXsUz3oGHasWxmozIwMDAPBgNVHRMBAf8EBTADAQH/
        MB0GA1UdDgQWBBSx6aGiDzK45E0PsjcEhnYtqp2+yTAKBggqhkjOPQQDAgNJADBG
        AiEAhv2E+xX+f7I9FR+RmeUe7Uf3vlWIyIgL7wiOO0zL4J0CIQCEJVJwPLLEZ2wJ
        9W3DI3uHgynq1jQi6BaecwTVCu+cAw==
        -----END CERTIFICATE-----
        """

    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBXzCCAQWgAwIBAgIBAjAKBggqhkjOPQQDAjAfMR0wGwYDVQQDDBRBc3NheSB0
        ZXN0IGF1dGhvcml0eTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFow
        GDEWMBQGA1UEAwwNaG9va3MuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
        A0IABICnAoPq3u0sbxBl852yQtFB9t3fw4dMHnyMkTUUEutwgI/lBHQ+22eH78rQ
        jEJKvA7X3mg585OhzFT3ZvzdTcijNzA1MB4GA1UdEQQXMBWCDWhvb2tzLmV4YW1w
        bGWHBH8AAAEwEwYDVR0lBAwwCgYIKwYBBQUHAwEwCgYIKoZIzj0EAwIDSAAwRQIg
        YE0WVo2lRPoJQuXarJrtdb+CqdGRPq424D/FWgfobeMCIQCBlnD++kUXh0o08E5+
        YiLFeV90Ws1yzSnao+e8XU1dTQ==
        -----END CERTIFICATE-----
        """

    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXc+4nSLtDsxJPD04
        Om26O6fNtcsmy8Af2kInPT5qN2GhRANCAASApwKD6t7tLG8QZfOdskLRQfbd38OH
        TB58jJE1FBLrcICP5QR0Pttnh+/K0IxCSrwO195oOfOTocxU92b83U3I
        -----END PRIVATE KEY-----
        """
}
