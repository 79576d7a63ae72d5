import Crypto
import Foundation
public import PurchaseLedger
import PurchaseVerification

/// A receiver of an app's events, or of its notifications, as the settings describe it.
public struct Webhook: Sendable, Equatable {
    /// The app whose events it gets.
    public let app: String
    /// What it gets.
    public let stream: WebhookStream
    /// The address that they are sent to.
    public let url: WebhookURL
    /// The secrets that sign; two during a rotation. Notifications are forwarded as they are, so nothing signs them
    /// again.
    public let secrets: [WebhookSecret]
    /// The hosts for which `http` and addresses that are not public are allowed.
    public let allowedHosts: Set<String>
    /// Certificates in PEM that are trusted instead of the system's.
    public let trust: [UInt8]?

    /// The most secrets: the present one, and the one before or after it.
    public static let secretLimit = 2

    /// A receiver.
    public init(
        app: String, _ stream: WebhookStream = .events, url: WebhookURL, secrets: [WebhookSecret],
        allowedHosts: Set<String> = [], trust: [UInt8]? = nil
    ) {
        (self.app, self.stream, self.url, self.secrets) = (app, stream, url, secrets)
        (self.allowedHosts, self.trust) = (allowedHosts, trust)
    }

    /// Whether the operator allows `http`, and any address, for its host.
    var isHostAllowed: Bool { allowedHosts.contains(url.host) }

    /// The environment whose notifications are forwarded to it; `nil` if it gets events.
    var forwardedEnvironment: AppStoreEnvironment? {
        if case .notifications(let environment) = stream { environment } else { nil }
    }
}

/// The URL of a receiver: `https`, or `http` for a host that the operator allows.
public struct WebhookURL: Sendable, Equatable {
    /// The URL as written in the settings.
    public let text: String
    /// The host in lower-case letters, without the brackets of an IPv6 address.
    public let host: String
    public let port: Int
    /// Path and query.
    let target: String
    let isHTTPS: Bool

    /// The longest URL, in bytes.
    static let limit = 2048

    /// A URL of `https` or `http` in ASCII, with a host, without user and fragment; `nil` for anything else.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.limit, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["https", "http"].contains(scheme), let host = parts.percentEncodedHost, !host.isEmpty,
            !host.utf8.contains(UInt8(ascii: "%")), parts.user == nil, parts.password == nil, parts.fragment == nil,
            parts.port.map({ (1...65_535).contains($0) }) ?? true
        else { return nil }
        self.text = text
        isHTTPS = scheme == "https"
        self.host = host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        port = parts.port ?? (isHTTPS ? 443 : 80)
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        target = path + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    /// Whether requests to both go to the same receiver, however host and port are written.
    func isSame(as other: WebhookURL) -> Bool {
        (isHTTPS, host, port, target) == (other.isHTTPS, other.host, other.port, other.target)
    }

    /// The value of the header `Host`.
    var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == (isHTTPS ? 443 : 80) ? name : "\(name):\(port)"
    }
}

/// A secret of the Standard Webhooks form: `whsec_` and 24 to 64 bytes in base64. Its text is never printed.
public struct WebhookSecret: Sendable, Equatable, CustomStringConvertible {
    private let bytes: [UInt8]

    private static let prefix = "whsec_"
    /// Standard Webhooks, "Signature scheme": between 24 and 64 bytes.
    private static let sizes = 24...64

    /// A secret; `nil` for a text of another form.
    public init?(_ text: String) {
        guard text.utf8.starts(with: Self.prefix.utf8),
            let data = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))), Self.sizes.contains(data.count)
        else { return nil }
        bytes = [UInt8](data)
    }

    public var description: String { "whsec_…" }

    /// Base64 of the HMAC-SHA256 of a message: its id, its time and its body, with a period between them.
    func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        var hash = HMAC<SHA256>(key: SymmetricKey(data: bytes))
        hash.update(data: Data("\(id).\(timestamp).".utf8))
        hash.update(data: body)
        return Data(hash.finalize()).base64EncodedString()
    }
}
