import AsyncHTTPClient
import EvidenceMint
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix

/// The reasons why a simulator cannot be built from its settings.
public enum SimulatorConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An allowed host is neither a name nor an address.
    case invalidHost(String)
    /// The address of the server under test is not `http://HOST:PORT`.
    case invalidServer(String)
    /// The server for notifications is not an address of HTTP or HTTPS.
    case invalidNotificationURL(String)
    /// The certificates to trust cannot be read.
    case invalidTrustFile(String, reason: String)
    /// The file of the state cannot be used.
    case database(String, reason: String)

    public var description: String {
        switch self {
        case .invalidHost(let text):
            "'\(text)' is not a host; give a name or an address without scheme and port, such as appstore.test"
        case .invalidServer(let text):
            "'\(text)' is not an address of the form http://HOST:PORT; evidence is sent over plain HTTP only"
        case .invalidNotificationURL(let text):
            "'\(text)' is not an address of the form http://HOST:PORT/PATH or https://HOST:PORT/PATH; notifications are posted to it"
        case .invalidTrustFile(let path, let reason): "\(path) has no certificates in PEM that can be read: \(reason)"
        case .database(let path, let reason): "the database \(path) \(reason)"
        }
    }
}

/// A request that the simulator refuses for a reason outside of the store.
struct SimulatorRefusal: Error {
    let status: HTTPResponse.Status
    let code: String
    let detail: String

    init(_ status: HTTPResponse.Status, _ code: String, _ detail: String) {
        (self.status, self.code, self.detail) = (status, code, detail)
    }
}

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
