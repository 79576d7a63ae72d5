import NIOCore

/// Holds the bytes of requests before the decoder while `PipelineHandler` accepts none, and passes them on in small
/// slices: a request in the decoder's form takes dozens of times its bytes. Meanwhile nothing is read from the socket.
///
/// Unchecked because all of it runs on the event loop of its channel.
final class RequestBytesHandler: ChannelDuplexHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The bytes that may hold several heads: at most 228 of the shortest.
    private static let headSlice = 4 << 10
    /// The bytes of a body at a time.
    private static let bodySlice = 16 << 10

    private weak var pipeline: PipelineHandler?
    private var context: ChannelHandlerContext?
    private var waiting: CircularBuffer<ByteBuffer> = []
    /// The end of the input, which comes after the bytes.
    private var isInputClosed = false
    private var isReadPending = false
    private var isFeeding = false

    private(set) var waitingBytes = 0

    init(_ pipeline: PipelineHandler) { self.pipeline = pipeline }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelInactive(context: ChannelHandlerContext) {
        waiting.removeAll()
        waitingBytes = 0
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        waiting.append(buffer)
        waitingBytes += buffer.readableBytes
        feed(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent, !waiting.isEmpty {
            isInputClosed = true
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    func read(context: ChannelHandlerContext) {
        guard waiting.isEmpty else {
            isReadPending = true
            return
        }
        context.read()
    }

    /// Continues after a pause.
    func resume() {
        guard let context, !waiting.isEmpty, !isFeeding else { return }
        feed(context)
        context.fireChannelReadComplete()
    }

    private func feed(_ context: ChannelHandlerContext) {
        guard !isFeeding else { return }
        isFeeding = true
        while let pipeline, !pipeline.isBlocked, var next = waiting.first {
            let length = min(next.readableBytes, pipeline.isReceivingBody ? Self.bodySlice : Self.headSlice)
            guard let slice = next.readSlice(length: length) else { break }
            waitingBytes -= length
            if next.readableBytes == 0 { waiting.removeFirst() } else { waiting[waiting.startIndex] = next }
            context.fireChannelRead(wrapInboundOut(slice))
        }
        isFeeding = false
        guard waiting.isEmpty else { return }
        if isInputClosed {
            isInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if isReadPending {
            isReadPending = false
            context.read()
        }
    }
}
