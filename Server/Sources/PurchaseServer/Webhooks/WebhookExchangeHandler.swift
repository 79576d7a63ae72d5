import NIOCore
import NIOHTTP1
import NIOSSL
import NIOTLS

/// One request and its answer at a time, over a connection that stays open between them.
final class WebhookExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// The number of bytes of an answer's body that are read, so that the connection can be used again. None of it is
    /// kept.
    static let bodyLimit = 64 << 10
    /// The number of interim answers (1xx) before the answer. A receiver sends one or none; one that sends them without
    /// end would keep the connection busy until the time limit.
    static let interimLimit = 8

    private var exchange: Exchange?
    /// Whether something may be written: at once without TLS, and after its handshake with it. NIOSSL (2.37.6) writes
    /// data that it got before, if the channel is closed while it reports that the certificate has another name.
    private var isReady: Bool
    /// The parts that wait until the channel is writable.
    private var waiting: [HTTPClientRequestPart] = []
    /// Why the connection was closed.
    private var failure: WebhookFailure?

    /// The host that the certificate must name; `nil` without TLS, and if the URL has an address, which NIOSSL
    /// compares.
    private let host: String?

    /// - Parameters:
    ///   - isSecure: whether TLS is below it.
    ///   - host: the host that the certificate must name.
    init(isSecure: Bool, host: String?) {
        isReady = !isSecure
        self.host = host
    }

    private struct Exchange {
        let promise: EventLoopPromise<Int>
        let deadline: Scheduled<Void>
        var status: Int?
        var isKeptAlive = false
        var bodyBytes = 0
        var interimAnswers = 0
    }

    /// Sends a request.
    ///
    /// - Returns: the status, when the answer is complete or long enough. Fails with `WebhookFailure`.
    func send(
        _ head: HTTPRequestHead, _ body: ByteBuffer, within limit: TimeAmount, _ channel: any Channel
    ) -> EventLoopFuture<Int> {
        let promise = channel.eventLoop.makePromise(of: Int.self)
        guard exchange == nil, channel.isActive else {
            promise.fail(failure ?? WebhookFailure(.connection, "closed"))
            return promise.futureResult
        }
        let handler = NIOLoopBound(self, eventLoop: channel.eventLoop)
        let deadline = channel.eventLoop.scheduleTask(in: limit) {
            handler.value.fail(WebhookFailure(.timeout), channel)
        }
        exchange = Exchange(promise: promise, deadline: deadline)
        waiting = [.head(head), .body(.byteBuffer(body)), .end(nil)]
        if isReady { write(channel) }
        return promise.futureResult
    }

    private func write(_ channel: any Channel) {
        for part in waiting { channel.write(part, promise: nil) }
        waiting = []
        channel.flush()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent {
            guard isCertificateOfHost(context) else {
                return fail(WebhookFailure(.tls, "the certificate is not valid for the host"), context.channel)
            }
            isReady = true
            write(context.channel)
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func isCertificateOfHost(_ context: ChannelHandlerContext) -> Bool {
        guard let host else { return true }
        do {
            guard let certificate = try context.pipeline.syncOperations.nioSSL_peerCertificate() else { return false }
            return CertificateName.isAmong(certificate, host: host)
        } catch {
            // The handler of TLS is gone with its connection.
            return false
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes that belong to no request.
        guard exchange != nil else { return context.close(promise: nil) }
        switch unwrapInboundIn(data) {
        case .head(let head) where head.status.mayBeFollowedByAnother:
            exchange?.interimAnswers += 1
            guard exchange.map({ $0.interimAnswers > Self.interimLimit }) == true else { return }
            fail(WebhookFailure(.malformed), context.channel)
        case .head(let head):
            exchange?.status = Int(head.status.code)
            exchange?.isKeptAlive = head.isKeepAlive
        case .body(let part):
            exchange?.bodyBytes += part.readableBytes
            guard exchange.map({ $0.bodyBytes > Self.bodyLimit }) == true else { return }
            finish(keepingOpen: false, context)
        case .end: finish(keepingOpen: true, context)
        }
    }

    private func finish(keepingOpen isWhole: Bool, _ context: ChannelHandlerContext) {
        guard let exchange, let status = exchange.status else { return }
        self.exchange = nil
        exchange.deadline.cancel()
        if !isWhole || !exchange.isKeptAlive { context.close(promise: nil) }
        exchange.promise.succeed(status)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(Self.failure(error), context.channel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // The error of a handshake can come after the end of its connection, or not at all.
        let end =
            isReady
            ? WebhookFailure(.connection, "closed before the answer was complete")
            : WebhookFailure(.tls, "closed during the handshake")
        fail(end, context.channel)
        context.fireChannelInactive()
    }

    private func fail(_ failure: WebhookFailure, _ channel: any Channel) {
        self.failure = self.failure ?? failure
        waiting = []
        // Taken out first: closing reports the end of the connection, which is not the reason.
        let exchange = exchange
        self.exchange = nil
        channel.close(promise: nil)
        guard let exchange else { return }
        exchange.deadline.cancel()
        exchange.promise.fail(failure)
    }

    private static func failure(_ error: any Error) -> WebhookFailure {
        switch error {
        case let failure as WebhookFailure: failure
        case is HTTPParserError, is DecodingError: WebhookFailure(.malformed)
        case let error as NIOSSLError: WebhookFailure(.tls, "\(error)")
        case let error as BoringSSLError: WebhookFailure(.tls, "\(error)")
        case is NIOSSLExtraError: WebhookFailure(.tls, "the certificate is not valid for the host")
        case let error as IOError: WebhookFailure(.connection, "error \(error.errnoCode)")
        default: WebhookFailure(.connection)
        }
    }
}

extension HTTPResponseStatus {
    /// RFC 9110, 15.2; 101 is the last one on its connection.
    fileprivate var mayBeFollowedByAnother: Bool { (100..<200).contains(code) && code != 101 }
}

/// Whether a certificate names the host of a URL (RFC 9525, 6.3).
///
/// NIOSSL (2.37.6) also accepts one that names the address of the connection instead of the host. Then an attacker who
/// forges the answers of a name server would only need a certificate for their own address.
package enum CertificateName {
    private static let wildcard = Array("*.".utf8)
    private static let period = UInt8(ascii: ".")

    /// Whether one of the DNS names is the host. The common name of the subject is ignored, because it is a text for
    /// people.
    static func isAmong(_ certificate: NIOSSLCertificate, host: String) -> Bool {
        certificate._subjectAlternativeNames().contains { name in
            name.nameType == .dnsName && matches(Array(name.contents), host: Array(host.utf8))
        }
    }

    /// Compares a DNS name of a certificate, whose first label can be `*`, with a host.
    package static func matches(_ name: [UInt8], host: [UInt8]) -> Bool {
        let (name, host) = (normal(name), normal(host))
        guard name.starts(with: wildcard), let end = host.firstIndex(of: period), end > 0 else { return name == host }
        return name.dropFirst() == host[end...]
    }

    /// Lower-case letters, without the period at the end.
    private static func normal(_ name: [UInt8]) -> ArraySlice<UInt8> {
        let small = name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        return small.last == period ? small.dropLast() : small[...]
    }
}
