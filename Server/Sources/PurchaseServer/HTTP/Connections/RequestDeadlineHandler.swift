import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Closes a connection whose request takes too long to arrive, however steadily it trickles. A request has to begin
/// within the idle time since the connection was made or the request before it was answered, and to arrive within the
/// time for a request since its first byte. A request that has arrived is not cut off; `AnswerDeadlines` limits the
/// time for its answer.
///
/// A request only notes its deadline. The timer checks the deadline when it fires, so there are a few timers a minute
/// for each connection instead of several for each request.
///
/// It stands behind a `PipelineHandler`, and adds a handler before the decoder, which sees the first byte of a head.
///
/// Unchecked because all of it runs on the event loop of its channel.
final class RequestDeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let idleLimit: TimeAmount
    private let requestLimit: TimeAmount
    private var deadline = NIODeadline.distantFuture
    private var timer: Scheduled<Void>?
    /// Whether bytes of a head arrived that is not complete.
    private var hasBegun = false
    private var isReceiving = false
    private var isAnswered = true

    /// - Parameters:
    ///   - idleLimit: the time until a request begins.
    ///   - requestLimit: the time from the first byte of a request to its last.
    init(idleLimit: TimeAmount, requestLimit: TimeAmount) {
        self.idleLimit = idleLimit
        self.requestLimit = requestLimit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = .now() + idleLimit
        startTimer(context)
        let pipeline = context.pipeline.syncOperations
        do {
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(FirstByteHandler(self), position: .before(decoder))
        } catch {
            context.close(promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            // The time of a head that arrived before the answer to the request before it is not counted.
            if !hasBegun || !isAnswered { deadline = .now() + requestLimit }
            (hasBegun, isReceiving, isAnswered) = (false, true, false)
        case .body: break
        case .end:
            isReceiving = false
            deadline = isAnswered ? .now() + idleLimit : .distantFuture
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            isAnswered = true
            if !isReceiving { deadline = .now() + (hasBegun ? requestLimit : idleLimit) }
        }
        context.write(data, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        cancel()
    }

    /// Notes bytes that are going to be decoded.
    private func note(_ bytes: ByteBuffer) {
        // Some clients send an empty line before a request (RFC 9112, 2.2).
        guard !hasBegun, !isReceiving, bytes.readableBytesView.contains(where: { $0 != 0x0D && $0 != 0x0A }) else {
            return
        }
        hasBegun = true
        if isAnswered { deadline = .now() + requestLimit }
    }

    /// Fires at the deadline, or after the shorter limit, so no deadline that is set meanwhile can pass before it.
    private func startTimer(_ context: ChannelHandlerContext) {
        let channel = context.channel
        let next = min(deadline, .now() + min(idleLimit, requestLimit))
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: next) {
            guard self.deadline <= .now() else { return self.startTimer(context) }
            channel.close(promise: nil)
        }
    }

    private func cancel() {
        timer?.cancel()
        timer = nil
    }

    /// Tells the deadlines of bytes before they are decoded.
    private final class FirstByteHandler: ChannelInboundHandler, RemovableChannelHandler, @unchecked Sendable {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer

        private weak var deadlines: RequestDeadlineHandler?

        init(_ deadlines: RequestDeadlineHandler) { self.deadlines = deadlines }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            deadlines?.note(unwrapInboundIn(data))
            context.fireChannelRead(data)
        }
    }
}
