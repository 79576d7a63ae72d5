import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request takes too long to arrive, however steadily it trickles: the head within the idle time
/// since the connection was made or the request before it ended, the body within the time for a request.
///
/// Unchecked because all of it runs on the event loop of its channel.
final class RequestDeadlineHandler: ChannelInboundHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let headLimit: TimeAmount
    private let bodyLimit: TimeAmount
    private var deadline: Scheduled<Void>?

    init(headLimit: TimeAmount, bodyLimit: TimeAmount) {
        self.headLimit = headLimit
        self.bodyLimit = bodyLimit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        schedule(headLimit, context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: schedule(bodyLimit, context)
        case .body: break
        case .end: schedule(headLimit, context)
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        cancel()
    }

    private func schedule(_ limit: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: limit) {
            channel.close(promise: nil)
        }
    }

    private func cancel() {
        deadline?.cancel()
        deadline = nil
    }
}
