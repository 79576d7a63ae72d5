import Foundation

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
