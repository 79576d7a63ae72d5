import HTTPTypes
public import NIOCore
import NIOHTTP1
public import NIOHTTPTypes
import Synchronization

/// Lets one request of a connection into the server at a time: the next one only after the answer before it was flushed
/// to the socket. So a client that sends many requests and reads no answer makes the server hold one answer, not all of
/// them.
///
/// An answer that is not taken at once counts against an `AnswerBudget`. A connection whose client takes nothing of an
/// answer for the time limit is closed.
///
/// It stands right after the codec. Bytes that arrive meanwhile wait undecoded in a `RequestBytesHandler`, which it
/// adds before the decoder.
///
/// Unchecked because all of it runs on the event loop of its channel.
public final class PipelineHandler: ChannelDuplexHandler, RemovableChannelHandler, @unchecked Sendable {
    public typealias InboundIn = HTTPRequestPart
    public typealias InboundOut = HTTPRequestPart
    public typealias OutboundIn = HTTPResponsePart
    public typealias OutboundOut = HTTPResponsePart

    private let budget: AnswerBudget
    private let unreadLimit: TimeAmount
    private let activity: ConnectionActivity?
    private var gate: RequestBytesHandler?

    /// What came after the request that is being answered.
    private var held: CircularBuffer<Held> = []
    /// Whether a head was passed on whose answer was not flushed.
    private var isAnswering = false
    /// Whether the head of a request arrived, and its end did not.
    private var isReceiving = false
    /// Parts of answers that were written and not flushed, and their bytes.
    private var unflushed = 0
    private var unflushedBytes = 0
    private var watch: Watch?

    private enum Held {
        case part(HTTPRequestPart)
        case inputClosed
        case error(any Error)
    }

    /// The observation of an answer that the client did not take at once.
    private struct Watch {
        var timer: Scheduled<Void>?
        var buffered: Int
        var unflushed: Int
        var lastProgress: NIODeadline
    }

    /// - Parameters:
    ///   - budget: counts the bytes of answers that are not taken.
    ///   - unreadLimit: how long a client may take nothing of its answer.
    ///   - activity: learns when the connection waits for a request.
    public init(budget: AnswerBudget, unreadLimit: TimeAmount, activity: ConnectionActivity? = nil) {
        self.budget = budget
        self.unreadLimit = unreadLimit
        self.activity = activity
    }

    public func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        let gate = RequestBytesHandler(self)
        do {
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(gate, position: .before(decoder))
            self.gate = gate
        } catch {
            context.close(promise: nil)
        }
    }

    public func handlerRemoved(context: ChannelHandlerContext) { end() }

    public func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        held.removeAll()
        gate = nil
        endWatch()
    }

    // MARK: Requests

    /// Whether bytes of requests wait before the decoder.
    var isBlocked: Bool { !held.isEmpty || (isAnswering && !isReceiving) }

    /// Whether the next bytes belong to a body.
    var isReceivingBody: Bool { isReceiving }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if case .head = part, isAnswering || !held.isEmpty {
            held.append(.part(part))
        } else if held.isEmpty {
            pass(part, context)
        } else {
            held.append(.part(part))
        }
    }

    private func pass(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head:
            (isAnswering, isReceiving) = (true, true)
            activity?.begin()
        case .body: break
        case .end: isReceiving = false
        }
        context.fireChannelRead(wrapInboundOut(part))
    }

    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent, !held.isEmpty { return held.append(.inputClosed) }
        context.fireUserInboundEventTriggered(event)
    }

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The answers to earlier requests come before the answer to malformed bytes.
        guard held.isEmpty else { return held.append(.error(error)) }
        context.fireErrorCaught(error)
    }

    /// Passes on what waited, up to the next request that must wait.
    private func passHeld(_ context: ChannelHandlerContext) {
        var isAnyPassed = false
        while let next = held.first {
            if case .part(.head) = next, isAnswering { break }
            held.removeFirst()
            isAnyPassed = true
            switch next {
            case .part(let part): pass(part, context)
            case .inputClosed: context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            case .error(let error): context.fireErrorCaught(error)
            }
        }
        if isAnyPassed { context.fireChannelReadComplete() }
        gate?.resume()
    }

    // MARK: Answers

    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        let (bytes, isEnd): (Int, Bool)
        switch part {
        case .head: return context.write(data, promise: promise)
        case .body(let body): (bytes, isEnd) = (body.readableBytes, false)
        case .end: (bytes, isEnd) = (0, true)
        }
        unflushed += 1
        unflushedBytes += bytes
        let written = promise ?? context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess {
            self.unflushed -= 1
            self.unflushedBytes -= bytes
            if self.unflushed == 0 { self.endWatch() }
            guard isEnd else { return }
            self.isAnswering = false
            self.activity?.end()
            self.passHeld(context)
        }
        context.write(data, promise: written)
    }

    public func flush(context: ChannelHandlerContext) {
        context.flush()
        guard unflushed > 0, context.channel.isActive else { return }
        if watch == nil {
            watch = Watch(
                timer: nil, buffered: buffered(context), unflushed: unflushed, lastProgress: .now())
            startTimer(context)
        }
        let channel = context.channel
        budget.hold(self, unflushedBytes + (gate?.waitingBytes ?? 0)) { channel.close(promise: nil) }
    }

    /// The bytes that wait for the client.
    private func buffered(_ context: ChannelHandlerContext) -> Int {
        do {
            return try context.channel.syncOptions?.getOption(ChannelOptions.bufferedWritableBytes) ?? 0
        } catch {
            // A closed channel has none.
            return 0
        }
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        let step = TimeAmount.nanoseconds(max(1, unreadLimit.nanoseconds / 4))
        watch?.timer = context.eventLoop.assumeIsolated().scheduleTask(in: step) { self.check(context) }
    }

    private func check(_ context: ChannelHandlerContext) {
        guard var watch, context.channel.isActive else { return }
        let (buffered, now) = (buffered(context), NIODeadline.now())
        if buffered < watch.buffered || unflushed < watch.unflushed {
            watch.lastProgress = now
            budget.noteProgress(self)
        }
        (watch.buffered, watch.unflushed) = (buffered, unflushed)
        self.watch = watch
        guard now - watch.lastProgress < unreadLimit else { return context.close(promise: nil) }
        startTimer(context)
    }

    private func endWatch() {
        guard let watch else { return }
        watch.timer?.cancel()
        self.watch = nil
        budget.release(self)
    }
}

/// Whether a connection waits for a request, and since when.
public final class ConnectionActivity: Sendable {
    /// In nanoseconds of `NIODeadline`; 0 while a request is answered.
    private let idle: Atomic<UInt64>

    /// A connection that was just opened.
    public init() { idle = Atomic(NIODeadline.now().uptimeNanoseconds) }

    /// When it began to wait for a request, in nanoseconds of the system's uptime; `nil` while one is answered.
    public var idleSince: UInt64? {
        let time = idle.load(ordering: .relaxed)
        return time == 0 ? nil : time
    }

    func begin() { idle.store(0, ordering: .relaxed) }

    func end() { idle.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed) }
}
