import HTTPTypes
import NIOCore
import NIOHTTPTypes

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
