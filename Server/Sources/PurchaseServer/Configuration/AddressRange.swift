import Foundation
import NIOCore

/// A range of IP addresses: `10.0.0.0/8`, `2001:db8::/32`, or a single address.
public struct AddressRange: Sendable, Equatable {
    private let bytes: [UInt8]
    private let prefixLength: Int

    /// A range from its text; `nil` for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bytes = Self.bytes(of: String(parts[0])) else { return nil }
        self.bytes = bytes
        guard parts.count == 2 else {
            prefixLength = bytes.count * 8
            return
        }
        guard let length = Int(parts[1]), (0...bytes.count * 8).contains(length) else { return nil }
        prefixLength = length
    }

    /// Whether it is larger than the largest private range, 10.0.0.0/8 of IPv4 and fc00::/7 of IPv6.
    var isLargerThanPrivate: Bool { prefixLength < (bytes.count == 4 ? 8 : 7) }

    /// Whether an address is in the range.
    public func contains(_ address: String) -> Bool {
        Self.bytes(of: address).map(contains) ?? false
    }

    /// Whether an address is in the range.
    func contains(_ other: [UInt8]) -> Bool {
        guard other.count == bytes.count else { return false }
        return bytes.indices.allSatisfy { index in
            let bits = min(8, max(0, prefixLength - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            return bytes[index] & mask == other[index] & mask
        }
    }

    /// The addresses of this machine itself.
    static let loopback = ["127.0.0.0/8", "::1"].compactMap(AddressRange.init)

    /// The key of rate limits: an IPv4 address, or the /64 network of an IPv6 address, because one client has the whole
    /// network.
    static func limited(_ address: SocketAddress?) -> [UInt8] {
        address.flatMap(bytes).map(network) ?? []
    }

    /// The key for the 4 or 16 bytes of an address.
    static func network(of address: [UInt8]) -> [UInt8] {
        Array(address.prefix(address.count == 16 ? 8 : 4))
    }

    /// The key of limits of a wider network: the /24 of an IPv4 address, or the /48 of an IPv6 address, which a
    /// provider gives to one customer.
    static func widerNetwork(of address: [UInt8]) -> [UInt8] {
        Array(address.prefix(address.count == 4 ? 3 : 6))
    }

    /// The wider network of an address in text; `nil` for any other text.
    package static func widerNetwork(of address: String) -> [UInt8]? { bytes(of: address).map(widerNetwork) }

    /// The 4 or 16 bytes of an address from its text; `nil` for any other text.
    static func bytes(of address: String) -> [UInt8]? { socketAddress(address).flatMap(bytes) }

    /// An address from its text; `nil` for any other text.
    static func socketAddress(_ address: String) -> SocketAddress? {
        do {
            return try SocketAddress(ipAddress: address, port: 0)
        } catch {
            return nil
        }
    }

    /// The 4 or 16 bytes of an address; an IPv4 address that is mapped into IPv6 has 4.
    static func bytes(of address: SocketAddress) -> [UInt8]? {
        switch address {
        case .v4(let address): return withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address):
            let bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
            let isMapped = bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
            return isMapped ? Array(bytes.suffix(4)) : bytes
        case .unixDomainSocket: return nil
        }
    }
}

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

/// The addresses that a webhook may be sent to: those of the public internet, unless the operator allows the host.
///
/// Otherwise anyone who controls a host name could make the server send requests to machines that only the server can
/// reach.
enum PublicAddress {
    /// IANA's registries of special-purpose addresses, as of 2026, and multicast.
    private static let refusedIPv4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    ].compactMap(AddressRange.init)

    /// The only range of IPv6 that is routed in public. Loopback, unspecified, IPv4-mapped, NAT64 (64:ff9b::), unique
    /// local, link-local and multicast addresses are outside of it.
    private static let publicIPv6 = AddressRange("2000::/3")

    /// Parts of that range that are special: Teredo and others, documentation, 6to4.
    private static let refusedIPv6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]
        .compactMap(AddressRange.init)

    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(AddressRange.init)

    /// Whether the 4 or 16 bytes of an address are those of this machine.
    static func isLoopback(_ address: [UInt8]) -> Bool { loopback.contains { $0.contains(address) } }

    /// Whether the 4 or 16 bytes of an address are those of a public one.
    static func contains(_ address: [UInt8]) -> Bool {
        switch address.count {
        case 4: !refusedIPv4.contains { $0.contains(address) }
        case 16: publicIPv6?.contains(address) == true && !refusedIPv6.contains { $0.contains(address) }
        default: false
        }
    }
}
