import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL

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
