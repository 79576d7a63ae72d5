import Foundation

/// A setting of the connection is wrong.
public enum AppStoreConnectionSettingsError: Error, Sendable, Equatable, CustomStringConvertible {
    case invalidURL(String)
    /// Receipts would be sent unencrypted over a network.
    case plainHTTP(String)
    /// The file of the trusted authorities cannot be used.
    case trustFile(String, reason: String)

    public var description: String {
        switch self {
        case .invalidURL(let text):
            "'\(text.prefix(200))' is not a URL of https with a host and without user, password and fragment"
        case .plainHTTP(let text):
            "'\(text.prefix(200))' is plain HTTP to another machine; use https, or a loopback address"
        case .trustFile(let path, let reason): "the certificate authorities in \(path) cannot be used: \(reason)"
        }
    }
}
