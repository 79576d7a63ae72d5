import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import Synchronization

/// One attempt of any call: a request to the App Store, and the reply or the reason why there is none.
struct HTTPExchange: Sendable {
    private let client: HTTPClient
    private let limits: AttemptLimits
    private let largestReply: Int
    private let skew: ClockSkew

    /// The most interim answers (1xx) to one request. RFC 9110, section 15.2, allows any number, each of which begins
    /// the wait for bytes anew; Apple sends none.
    static let mostInterimAnswers = 8

    /// A reply of any HTTP status. The body of one that is not 2xx is cut to `UndeterminedValidation.keptReplyBytes`.
    struct Reply: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: [UInt8]

        var isSuccess: Bool { (200..<300).contains(status) }
    }

    /// The reason why there is no reply, with a description for people.
    struct Failure: Error {
        let code: UndeterminedValidation.Code
        let words: String
    }

    /// - Throws: `AppStoreConnectionSettingsError` if the trusted authorities cannot be read.
    init(
        trustFile: String?, limits: AttemptLimits, largestReply: Int, skew: ClockSkew
    ) throws(AppStoreConnectionSettingsError) {
        self.limits = limits
        self.largestReply = largestReply
        self.skew = skew
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let path = trustFile {
            do {
                let authorities = try NIOSSLCertificate.fromPEMFile(path)
                guard !authorities.isEmpty else {
                    throw AppStoreConnectionSettingsError.trustFile(path, reason: "the file has no certificate")
                }
                tls.trustRoots = .certificates(authorities)
            } catch let error as AppStoreConnectionSettingsError {
                throw error
            } catch {
                throw .trustFile(path, reason: "the file cannot be read, or has no certificates in PEM")
            }
        }
        var pool = HTTPClient.Configuration.ConnectionPool(
            idleTimeout: .seconds(60), concurrentHTTP1ConnectionsPerHostSoftLimit: CallLimit.callsInAll)
        // The clients make the retries, because the library's would not be counted.
        pool.retryConnectionEstablishment = false
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: limits.connect, read: limits.read, write: limits.read), connectionPool: pool,
            decompression: .enabled(limit: .size(largestReply + 1)))
        configuration.httpVersion = .http1Only
        // The library skips interim answers without a limit, and has no other way to see them.
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                try pipeline.addHandler(InterimAnswerLimit(), position: .after(decoder))
            }
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func send(_ request: HTTPClientRequest) async -> Result<Reply, Failure> {
        let isLate = Atomic(false)
        var request = request
        if let trace = OutgoingTrace.parent { request.headers.replaceOrAdd(name: "traceparent", value: trace) }
        let exchange = Task { [request] in try await collect(request) }
        // The library's deadline ends with the head of the reply.
        let timer = client.eventLoopGroup.next().scheduleTask(in: limits.whole) {
            isLate.store(true, ordering: .relaxed)
            exchange.cancel()
        }
        let result = await withTaskCancellationHandler {
            await exchange.result
        } onCancel: {
            exchange.cancel()
        }
        timer.cancel()
        // A truncated reply is ignored.
        if isLate.load(ordering: .relaxed) {
            return .failure(Failure(code: .timeout, words: "no whole reply in \(limits.whole.words)"))
        }
        switch result {
        case .success(let reply): return .success(reply)
        case .failure(let error):
            let (code, words) = NetworkError.meaning(of: error, limits)
            return .failure(Failure(code: code, words: words))
        }
    }

    func shutdown() async throws { try await client.shutdown() }

    private func collect(_ request: HTTPClientRequest) async throws -> Reply {
        let sent = skew.now()
        let response = try await client.execute(request, deadline: .now() + limits.whole)
        skew.note(response.headers.first(name: "date"), sent: sent)
        let status = Int(response.status.code)
        guard (200..<300).contains(status) else {
            // Read to its end, so that the connection can be used again.
            let body = try? await response.body.collect(upTo: UndeterminedValidation.keptReplyBytes)
            return Reply(status: status, headers: response.headers, body: body.map { Array(buffer: $0) } ?? [])
        }
        let body = try await response.body.collect(upTo: largestReply)
        return Reply(status: status, headers: response.headers, body: Array(buffer: body))
    }
}

/// Ends a connection with more than `HTTPExchange.mostInterimAnswers` to one request.
private final class InterimAnswerLimit: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private var count = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            count = head.status.code < 200 ? count + 1 : 0
            guard count <= HTTPExchange.mostInterimAnswers else {
                context.fireErrorCaught(TooManyInterimAnswers())
                return context.close(promise: nil)
            }
        }
        context.fireChannelRead(data)
    }
}

/// More interim answers came than `HTTPExchange.mostInterimAnswers`.
struct TooManyInterimAnswers: Error {}

/// The trace that calls belong to (W3C Trace Context). Set it around the work that calls the App Store:
///
///     try await OutgoingTrace.$parent.withValue(request.headers["traceparent"]) { … }
public enum OutgoingTrace {
    /// The value of the header `traceparent`; `nil` sends none. The caller has checked its form.
    @TaskLocal public static var parent: String?
}

/// The meaning of an error of the network libraries. Their own descriptions name functions and types.
enum NetworkError {
    static func meaning(
        of error: any Error, _ limits: AttemptLimits
    ) -> (code: UndeterminedValidation.Code, words: String) {
        switch error {
        case let error as HTTPClientError: client(error, limits)
        case ChannelError.connectTimeout: (.timeout, "no connection in \(limits.connect.words)")
        case is CancellationError: (.cancelled, "the call was cancelled")
        case is NIOTooManyBytesError, is NIOHTTPDecompression.DecompressionError:
            (.tooLarge, "more than the largest reply, or compressed wrongly")
        case is NIOSSLExtraError: (.certificate, "the certificate is not of the host that was asked")
        case let error as NIOSSLError: tls(error)
        case let error as BoringSSLError: (.certificate, "TLS: \(shortened("\(error)"))")
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { meaning(of: $0.error, limits) }
                ?? (.unreachable, "the host name is unknown")
        case let error as IOError: (.unreachable, String(cString: strerror(error.errnoCode)))
        case is ChannelError, HTTPParserError.invalidEOFState:
            (.unreachable, "the connection was closed before the end of the reply")
        case is HTTPParserError: (.unreadable, "the reply is not HTTP")
        case is TooManyInterimAnswers:
            (.unreadable, "more than \(HTTPExchange.mostInterimAnswers) interim answers (1xx)")
        default: (.unreachable, shortened("\(error)"))
        }
    }

    private static func client(
        _ error: HTTPClientError, _ limits: AttemptLimits
    ) -> (code: UndeterminedValidation.Code, words: String) {
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout: (.timeout, "no connection in \(limits.connect.words)")
        case .readTimeout, .writeTimeout: (.timeout, "no bytes in \(limits.read.words)")
        case .deadlineExceeded, .getConnectionFromPoolTimeout: (.timeout, "no whole reply in \(limits.whole.words)")
        case .cancelled, .alreadyShutdown: (.cancelled, "the call was cancelled")
        case .remoteConnectionClosed, .uncleanShutdown:
            (.unreachable, "the connection was closed before the end of the reply")
        default: (.unreachable, shortened("\(error)"))
        }
    }

    private static func tls(_ error: NIOSSLError) -> (code: UndeterminedValidation.Code, words: String) {
        switch error {
        case .handshakeFailed: (.certificate, "no trusted TLS connection: \(shortened("\(error)"))")
        case .uncleanShutdown: (.unreachable, "the connection was closed before the end of the reply")
        default: (.certificate, "TLS: \(shortened("\(error)"))")
        }
    }

    private static func shortened(_ text: String) -> String { String(text.prefix(160)) }
}

extension TimeAmount {
    /// In seconds, for people.
    var words: String { "\(Double(nanoseconds) / 1e9) s" }
}
