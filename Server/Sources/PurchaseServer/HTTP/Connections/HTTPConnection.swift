import HTTPConnections
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
