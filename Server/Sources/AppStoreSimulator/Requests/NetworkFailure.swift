import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Describes a network error in words. The library's own descriptions name its functions and types.
enum NetworkFailure {
    static func words(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { words($0.error) } ?? "the host name is unknown"
        case let error as HTTPClientError where error == .connectTimeout: "the connection timed out"
        case let error as HTTPClientError where error == .remoteConnectionClosed: "the connection was closed"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case ChannelError.eof, ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed,
            HTTPParserError.invalidEOFState:
            "the connection was closed"
        case ChannelError.connectTimeout: "the connection timed out"
        case is HTTPParserError: "the answer is not HTTP"
        default: "\(error)"
        }
    }
}
