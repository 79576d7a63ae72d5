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
