import Foundation
package import NIOCore
import NIOPosix

/// Resolves the name of a host. The connection is made to an address of its answer, and the name is not resolved again.
package struct NameResolver: Sendable {
    /// The addresses of a host, the preferred first; empty if there are none.
    package let addresses: @Sendable (_ host: String, _ port: Int) async throws -> [SocketAddress]

    package init(_ addresses: @escaping @Sendable (_ host: String, _ port: Int) async throws -> [SocketAddress]) {
        self.addresses = addresses
    }

    /// Separate threads, because a name server that does not answer must not delay verification.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 4)
        threads.start()
        return threads
    }()

    package static let system = NameResolver { host, port in
        try await threads.runIfActive { lookUp(host, port) }
    }

    private static func lookUp(_ host: String, _ port: Int) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let info = next {
            if let address = address(info.pointee) { addresses.append(address) }
            next = info.pointee.ai_next
        }
        return addresses
    }

    private static func address(_ info: addrinfo) -> SocketAddress? {
        guard let pointer = info.ai_addr else { return nil }
        switch info.ai_family {
        case AF_INET:
            return SocketAddress(pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee })
        case AF_INET6:
            return SocketAddress(pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { $0.pointee })
        default: return nil
        }
    }
}

extension SocketAddress {
    /// The 4 or 16 bytes of the address, unchanged: an IPv4 address that is mapped into IPv6 has 16.
    var addressBytes: [UInt8] {
        switch self {
        case .v4(let address): withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        case .unixDomainSocket: []
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

    /// Whether the 4 or 16 bytes of an address are those of a public one.
    static func contains(_ address: [UInt8]) -> Bool {
        switch address.count {
        case 4: !refusedIPv4.contains { $0.contains(address) }
        case 16: publicIPv6?.contains(address) == true && !refusedIPv6.contains { $0.contains(address) }
        default: false
        }
    }
}
