import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// A connection of HTTP/1.1, as Hummingbird builds it, with a check of each head before any text of it is compared, and limits
/// on what one address and one request may take.
struct HTTPConnection: HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let limiter: ConnectionLimiter
    /// The limits in force when a connection is opened.
    let currentLimits: @Sendable () -> ServerConfiguration.Limits

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard limiter.admit(channel) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(ChannelError.eof)
        }
        let limits = currentLimits()
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            // NIOAsyncChannel keeps the order of pipelined requests; HTTPTypes validates the headers of answers.
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false)
            // Before the codec, which compares names and splits values as text.
            try pipeline.addHandler(RequestHeadHandler())
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            try pipeline.addHandler(
                RequestDeadlineHandler(
                    headLimit: .seconds(limits.idleSeconds), bodyLimit: .seconds(limits.requestSeconds)))
            try pipeline.addHandler(ContinueHandler(bodyBytes: limits.bodyBytes))
            try pipeline.addHandler(UnreadBodyHandler())
            try pipeline.addHandler(
                HTTPConnectionStateHandler(idleTimeout: .seconds(limits.idleSeconds), logger: logger))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value channel: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: channel, logger: logger)
    }
}
