import HTTPConnections
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// A connection of HTTP/1.1, as Hummingbird builds it, with a check of each head before any text of it is compared, and
/// limits on what one address and one request may take.
struct HTTPConnection: HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let limiter: ConnectionLimiter
    let answers: AnswerBudget
    /// Whether TLS is around it.
    let isSecure: Bool
    /// The limits in force when a connection is opened.
    let currentLimits: @Sendable () -> ServerConfiguration.Limits

    /// The time limit for the one request of a connection in the reserve. A monitor sends it at once; the shorter the
    /// limit, the sooner there is room for the next monitor.
    private static let reservedSeconds: Int64 = 2

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        var limits = currentLimits()
        let activity: ConnectionActivity?
        switch limiter.admit(channel) {
        case .admitted(let admitted): activity = admitted
        case .reserved:
            activity = nil
            limits.idleSeconds = min(limits.idleSeconds, Self.reservedSeconds)
            limits.requestSeconds = min(limits.requestSeconds, Self.reservedSeconds)
        case .refused:
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(ChannelError.eof)
        }
        let allowed = limits
        return channel.eventLoop.makeCompletedFuture {
            let limits = allowed
            let pipeline = channel.pipeline.syncOperations
            // NIOAsyncChannel keeps the order of pipelined requests; HTTPTypes validates the headers of answers.
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false)
            // Before the codec, which compares names and splits values as text.
            try pipeline.addHandler(RequestHeadHandler(isReserved: activity == nil))
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: isSecure))
            try pipeline.addHandler(
                PipelineHandler(budget: answers, unreadLimit: .seconds(limits.requestSeconds), activity: activity))
            try pipeline.addHandler(
                RequestDeadlineHandler(
                    idleLimit: .seconds(limits.idleSeconds), requestLimit: .seconds(limits.requestSeconds)))
            try pipeline.addHandler(ContinueHandler(bodyBytes: limits.bodyBytes))
            try pipeline.addHandler(UnreadBodyHandler())
            // Without a time limit of its own: it would count a head that has begun as idle.
            try pipeline.addHandler(HTTPConnectionStateHandler(logger: logger))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value channel: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: channel, logger: logger)
    }
}

/// Answers 100 (Continue) to a client that asks before it sends its body (RFC 9110, 10.1.1). Older versions of libcurl
/// ask before each body of more than a kilobyte, so before nearly every receipt, and wait a second for the answer.
///
/// Unchecked because all of it runs on the event loop of its channel.
final class ContinueHandler: ChannelInboundHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let bodyBytes: Int

    /// - Parameter bodyBytes: the largest body that is read; a client that announces a larger one gets only the
    ///   refusal.
    init(bodyBytes: Int) {
        self.bodyBytes = bodyBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data),
            head.headerFields[.expect]?.utf8.isEqual(ignoringCase: "100-continue") == true,
            head.headerFields.announcedBodyBytes <= bodyBytes
        {
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
        context.fireChannelRead(data)
    }
}

extension HTTPFields {
    /// The length in `Content-Length`; 0 if it is absent, and the maximum if it overflows (the parser accepts only
    /// digits).
    var announcedBodyBytes: Int {
        guard let text = self[.contentLength] else { return 0 }
        return Int(text) ?? Int.max
    }
}

/// Ends a connection whose request was answered before its body had arrived, such as with a 401 or 413, unless little
/// of the body is left. Hummingbird would read the rest, however long, to keep the connection.
///
/// Unchecked because all of it runs on the event loop of its channel.
final class UnreadBodyHandler: ChannelDuplexHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The part of a body that is read after its answer: the size of a usual receipt, so that a client keeps its
    /// connection after a refusal.
    static let restBytes = 256 << 10
    /// The time for the sender to read the answer before the connection closes. Closing a connection while bytes arrive
    /// resets it, and a reset can discard the answer (RFC 9112, 9.6).
    static let lingering = TimeAmount.milliseconds(500)

    /// Heads that were read and not yet answered.
    private var unanswered = 0
    /// Bytes of the body that were read since its answer.
    private var rest = 0
    private var isClosing = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        switch unwrapInboundIn(data) {
        case .head: (unanswered, rest) = (unanswered + 1, 0)
        case .body(let body):
            if unanswered == 0 {
                rest += body.readableBytes
                guard rest <= Self.restBytes else { return close(context) }
            }
        case .end: break
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        // An interim response, 100, does not count.
        case .head, .body: break
        case .end: unanswered -= 1
        }
        context.write(data, promise: promise)
    }

    /// Stops reading once the connection is closing, so the remaining bytes stay with the sender.
    func read(context: ChannelHandlerContext) {
        if !isClosing { context.read() }
    }

    private func close(_ context: ChannelHandlerContext) {
        isClosing = true
        let channel = context.channel
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { channel.close(promise: nil) }
    }
}
