import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request takes too long to arrive, however steadily it trickles: the head within the idle
/// time since the connection was made or the request before it was answered, the body within the time for a request. A
/// request that has arrived is not cut off; `AnswerDeadlines` limits the time for its answer.
///
/// A request only notes its deadline. The timer checks the deadline when it fires, so there are a few timers a minute
/// for each connection instead of several for each request.
///
/// Unchecked because all of it runs on the event loop of its channel.
final class RequestDeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let headLimit: TimeAmount
    private let bodyLimit: TimeAmount
    private var deadline = NIODeadline.distantFuture
    private var timer: Scheduled<Void>?
    private var isReceiving = false
    private var isAnswered = true

    init(headLimit: TimeAmount, bodyLimit: TimeAmount) {
        self.headLimit = headLimit
        self.bodyLimit = bodyLimit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = .now() + headLimit
        startTimer(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            (isReceiving, isAnswered) = (true, false)
            deadline = .now() + bodyLimit
        case .body: break
        case .end:
            isReceiving = false
            deadline = isAnswered ? .now() + headLimit : .distantFuture
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            isAnswered = true
            if !isReceiving { deadline = .now() + headLimit }
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

    /// Fires at the deadline, or after the shorter limit, so no deadline that is set meanwhile can pass before it.
    private func startTimer(_ context: ChannelHandlerContext) {
        let channel = context.channel
        let next = min(deadline, .now() + min(headLimit, bodyLimit))
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: next) {
            guard self.deadline <= .now() else { return self.startTimer(context) }
            channel.close(promise: nil)
        }
    }

    private func cancel() {
        timer?.cancel()
        timer = nil
    }
}
