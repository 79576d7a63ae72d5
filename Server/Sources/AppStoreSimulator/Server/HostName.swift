import Foundation

/// The name of a host as the header `Host` and URLs write it (RFC 3986, 3.2.2), as bytes in lower case.
///
/// Compared byte by byte: text from a client is never hashed or compared as a `String`, which takes quadratic time for
/// hostile Unicode.
struct HostName: Equatable, Sendable {
    /// The name or address without brackets and without port.
    let bytes: [UInt8]

    /// The longest name of DNS (RFC 1035, 2.3.4).
    private static let longestName = 253

    /// Reads `name`, `name:port`, `address`, `[address]` or `[address]:port`.
    /// - Returns: nil if the text has another format.
    init?(authority: some Collection<UInt8>) {
        let name: [UInt8]
        let rest: [UInt8]
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            name = Array(authority[authority.startIndex..<end].dropFirst())
            rest = Array(authority[end...].dropFirst())
            guard Self.address(name, AF_INET6) != nil else { return nil }
        } else {
            name = Array(authority.prefix { $0 != UInt8(ascii: ":") })
            rest = Array(authority.dropFirst(name.count))
        }
        guard rest.isEmpty || Self.isPort(rest), let host = HostName(name: name) else { return nil }
        self = host
    }

    /// Accepts a name or an address, IPv6 with or without brackets.
    /// - Returns: nil if the text is neither.
    init?(name: some Collection<UInt8>) {
        var name = Array(name)
        if name.first == UInt8(ascii: "["), name.last == UInt8(ascii: "]") { name = name.dropFirst().dropLast() }
        guard (1...Self.longestName).contains(name.count) else { return nil }
        let isAddress = name.contains(UInt8(ascii: ":"))
        guard isAddress ? Self.address(name, AF_INET6) != nil : name.allSatisfy(Self.isNameByte) else { return nil }
        bytes = name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Whether it is `localhost`, an address in 127.0.0.0/8, or `::1`.
    var isLoopback: Bool {
        if bytes == Array("localhost".utf8) { return true }
        if let address = Self.address(bytes, AF_INET) { return address.first == 127 }
        guard let address = Self.address(bytes, AF_INET6) else { return false }
        return address.dropLast().allSatisfy { $0 == 0 } && address.last == 1
    }

    /// The name for people; it is ASCII.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// A colon and digits; a port may be empty (RFC 3986, 3.2.3).
    private static func isPort(_ bytes: [UInt8]) -> Bool {
        bytes.first == UInt8(ascii: ":") && bytes.count <= 6
            && bytes.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// The octets of an address; nil if the text is not an address.
    private static func address(_ text: [UInt8], _ family: Int32) -> [UInt8]? {
        // The longest text of an IPv6 address has 45 characters (RFC 4291, 2.2).
        guard text.count <= 45, !text.contains(0) else { return nil }
        var octets = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
        let isAddress = (text + [0]).withUnsafeBytes { text in
            octets.withUnsafeMutableBytes { octets in
                guard let text = text.baseAddress, let octets = octets.baseAddress else { return false }
                return inet_pton(family, text.assumingMemoryBound(to: CChar.self), octets) == 1
            }
        }
        return isAddress ? octets : nil
    }
}
