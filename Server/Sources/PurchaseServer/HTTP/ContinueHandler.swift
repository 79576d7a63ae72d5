import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Tells a client that asks first to go on and send its body (RFC 9110, 10.1.1). Older versions of libcurl ask before each body
/// of more than a kilobyte, so before nearly every receipt, and wait a second for this.
///
/// Unchecked because all of it runs on the event loop of its channel.
final class ContinueHandler: ChannelInboundHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data), head.headerFields[.expect]?.lowercased() == "100-continue" {
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
        context.fireChannelRead(data)
    }
}
