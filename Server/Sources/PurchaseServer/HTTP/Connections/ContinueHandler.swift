import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Answers 100 (Continue) to a client that asks before it sends its body (RFC 9110, 10.1.1). Older versions of libcurl
/// ask before each body of more than a kilobyte, so before nearly every receipt, and wait a second for the answer.
///
/// Unchecked because all of it runs on the event loop of its channel.
final class ContinueHandler: ChannelInboundHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let bodyBytes: Int

    /// - Parameter bodyBytes: the largest body that is read; a client that announces a larger one gets only the
    ///   refusal.
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
    /// The length in `Content-Length`; 0 if it is absent, and the maximum if it overflows (the parser accepts only
    /// digits).
    var announcedBodyBytes: Int {
        guard let text = self[.contentLength] else { return 0 }
        return Int(text) ?? Int.max
    }
}
