/// Where the listener for operators is: `HOST:PORT`, the path of a socket, or `off`.
public enum AdminAddress: Sendable, Equatable, CustomStringConvertible {
    case off
    /// A host and a port; 0 selects a free one.
    case port(host: String, Int)
    /// A socket of the file system, as an absolute path.
    case socket(String)

    /// The default of `assay serve`: reachable from this machine only.
    public static let standard = AdminAddress.port(host: "127.0.0.1", 8081)

    /// The longest path that a socket can have, in bytes (unix(7)); the system's field has 108 with the final zero.
    private static let pathBytes = 103

    /// Reads an address; `nil` for anything else.
    public init?(_ text: String) {
        if text.lowercased() == "off" {
            self = .off
            return
        }
        if text.hasPrefix("/") {
            guard text.utf8.count <= Self.pathBytes, !text.hasSuffix("/") else { return nil }
            self = .socket(text)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, host.contains(":") == isBracketed else { return nil }
        self = .port(host: String(host), Int(port))
    }

    public var description: String {
        switch self {
        case .off: "off"
        case .port(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .socket(let path): path
        }
    }

    /// The host of a port.
    var host: String? {
        if case .port(let host, _) = self { host } else { nil }
    }

    /// Whether only this machine reaches it.
    package var isLocal: Bool {
        switch self {
        case .off, .socket: true
        case .port(let host, _): ["127.0.0.1", "::1", "localhost"].contains(host)
        }
    }
}
