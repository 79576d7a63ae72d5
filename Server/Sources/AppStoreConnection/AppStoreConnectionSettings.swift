public import Foundation

/// How the App Store is reached.
public struct AppStoreConnectionSettings: Sendable, Equatable {
    /// The whole URL of `verifyReceipt` for production.
    public var verifyReceiptProduction: URL
    /// The whole URL of `verifyReceipt` for the sandbox.
    public var verifyReceiptSandbox: URL
    /// A PEM file with the certificate authorities to trust instead of the system's; for tests and the simulator.
    public var trustFile: String?

    /// Apple's addresses and the system's authorities.
    public static let apple = AppStoreConnectionSettings(
        constantProduction: "https://buy.itunes.apple.com/verifyReceipt",
        sandbox: "https://sandbox.itunes.apple.com/verifyReceipt")

    private init(constantProduction production: StaticString, sandbox: StaticString) {
        // Both are constants of this file, and a test reads them.
        verifyReceiptProduction = URL(string: "\(production)") ?? URL(fileURLWithPath: "/")
        verifyReceiptSandbox = URL(string: "\(sandbox)") ?? URL(fileURLWithPath: "/")
    }

    /// Other addresses.
    ///
    /// - Parameters:
    ///   - production: `https://…`; `http://…` only with a loopback address.
    ///   - sandbox: in the same form.
    ///   - trustFile: a PEM file with authorities; `nil` to trust the system's.
    /// - Throws: `AppStoreConnectionSettingsError`.
    public init(production: String, sandbox: String, trustFile: String? = nil) throws(AppStoreConnectionSettingsError) {
        verifyReceiptProduction = try Self.url(production)
        verifyReceiptSandbox = try Self.url(sandbox)
        self.trustFile = trustFile
    }

    func url(of environment: ValidationEnvironment) -> URL {
        environment == .production ? verifyReceiptProduction : verifyReceiptSandbox
    }

    /// A URL that receipts may be sent to.
    ///
    /// - Throws: `AppStoreConnectionSettingsError`.
    public static func url(_ text: String) throws(AppStoreConnectionSettingsError) -> URL {
        guard text.utf8.count <= 2048, let url = URL(string: text), let host = url.host(), !host.isEmpty,
            url.user() == nil, url.password() == nil, url.fragment == nil
        else { throw .invalidURL(text) }
        switch url.scheme {
        case "https": return url
        case "http" where ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host): return url
        case "http": throw .plainHTTP(text)
        default: throw .invalidURL(text)
        }
    }
}

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
