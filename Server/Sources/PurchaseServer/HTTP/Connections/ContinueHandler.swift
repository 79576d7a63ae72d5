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

    private let bodyBytes: Int

    /// - Parameter bodyBytes: the largest body that is read; who announces a larger one gets the refusal alone.
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
    /// The length of the body that `Content-Length` announces; 0 where there is none, and the largest number where it does not
    /// fit (the parser lets only digits pass).
    var announcedBodyBytes: Int {
        guard let text = self[.contentLength] else { return 0 }
        return Int(text) ?? Int.max
    }
}
