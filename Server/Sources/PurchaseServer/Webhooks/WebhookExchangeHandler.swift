import NIOCore
import NIOHTTP1
import NIOSSL

/// One request and its answer at a time, over a connection that stays open between them.
final class WebhookExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// How much of the body of an answer is read, so that the connection can be used again. Nothing of it is kept.
    static let bodyLimit = 64 << 10

    private var exchange: Exchange?

    private struct Exchange {
        let promise: EventLoopPromise<Int>
        let deadline: Scheduled<Void>
        var status: Int?
        var isKeptAlive = false
        var bodyBytes = 0
    }

    /// Sends a request.
    ///
    /// - Returns: the status, when the answer is complete or long enough. Fails with `WebhookFailure`.
    func send(
        _ head: HTTPRequestHead, _ body: ByteBuffer, within limit: TimeAmount, _ channel: any Channel
    ) -> EventLoopFuture<Int> {
        let promise = channel.eventLoop.makePromise(of: Int.self)
        guard exchange == nil, channel.isActive else {
            promise.fail(WebhookFailure(.connection, "closed"))
            return promise.futureResult
        }
        let handler = NIOLoopBound(self, eventLoop: channel.eventLoop)
        let deadline = channel.eventLoop.scheduleTask(in: limit) {
            handler.value.fail(WebhookFailure(.timeout), channel)
        }
        exchange = Exchange(promise: promise, deadline: deadline)
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(body)), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        return promise.futureResult
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes that answer nothing.
        guard exchange != nil else { return context.close(promise: nil) }
        switch unwrapInboundIn(data) {
        case .head(let head):
            exchange?.status = Int(head.status.code)
            exchange?.isKeptAlive = head.isKeepAlive
        case .body(let part):
            exchange?.bodyBytes += part.readableBytes
            guard exchange.map({ $0.bodyBytes > Self.bodyLimit }) == true else { return }
            finish(keepingOpen: false, context)
        case .end: finish(keepingOpen: true, context)
        }
    }

    private func finish(keepingOpen isWhole: Bool, _ context: ChannelHandlerContext) {
        guard let exchange, let status = exchange.status else { return }
        self.exchange = nil
        exchange.deadline.cancel()
        if !isWhole || !exchange.isKeptAlive { context.close(promise: nil) }
        exchange.promise.succeed(status)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(Self.failure(error), context.channel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(WebhookFailure(.connection, "closed before the answer was complete"), context.channel)
        context.fireChannelInactive()
    }

    private func fail(_ failure: WebhookFailure, _ channel: any Channel) {
        channel.close(promise: nil)
        guard let exchange else { return }
        self.exchange = nil
        exchange.deadline.cancel()
        exchange.promise.fail(failure)
    }

    private static func failure(_ error: any Error) -> WebhookFailure {
        switch error {
        case is HTTPParserError: WebhookFailure(.malformed)
        case let error as NIOSSLError: WebhookFailure(.tls, "\(error)")
        case let error as BoringSSLError: WebhookFailure(.tls, "\(error)")
        case is NIOSSLExtraError: WebhookFailure(.tls, "the certificate is not one for the host")
        case let error as IOError: WebhookFailure(.connection, "error \(error.errnoCode)")
        default: WebhookFailure(.connection)
        }
    }
}
