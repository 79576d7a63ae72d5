import EvidenceMint
import Foundation

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

    /// The reason in words.
    public var description: String {
        switch self {
        case .invalidHost(let text):
            "'\(text)' is not a host; give a name or an address without scheme and port, such as appstore.test"
        case .invalidServer(let text):
            "'\(text)' is not an address of the form http://HOST:PORT; evidence is sent over plain HTTP only"
        case .invalidNotificationURL(let text):
            "'\(text)' is not an address of the form http://HOST:PORT/PATH or https://HOST:PORT/PATH; notifications are posted to it"
        case .invalidTrustFile(let path, let reason):
            "\(path) has no certificates in PEM that can be read: \(reason)"
        case .database(let path, let reason): "the database \(path) \(reason)"
        }
    }
}
