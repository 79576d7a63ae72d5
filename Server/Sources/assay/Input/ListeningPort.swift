import Foundation
import NIOCore
import PurchaseServer

/// The port that a server is going to listen on.
enum ListeningPort {
    /// Checks that a server can listen for operators.
    ///
    /// - Throws: `IOError`, as the server's own attempt would; also for a socket on which a program answers, which the
    ///   server would replace.
    static func requireFree(_ address: AdminAddress) throws {
        switch address {
        case .off: return
        case .port(let host, let port): try requireFree(host, port)
        case .socket(let path):
            if isAnswered(path) { throw IOError(errnoCode: EADDRINUSE, reason: "bind") }
        }
    }

    /// Whether a program accepts connections on a socket.
    private static func isAnswered(_ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        #if os(Linux)
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// Checks that a server can listen on a port, before anything is created on disk for it.
    ///
    /// - Throws: `IOError`, as the server's own attempt would.
    static func requireFree(_ host: String, _ port: Int) throws {
        // 0 selects a free port.
        guard port != 0 else { return }
        var hints = addrinfo()
        #if os(Linux)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        // The server reports a name that does not resolve.
        guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let address = found else { return }
        defer { freeaddrinfo(found) }
        let descriptor = socket(address.pointee.ai_family, address.pointee.ai_socktype, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // As the server does, so that connections of a server that just ended do not count.
        var reuse: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else {
            throw IOError(errnoCode: errno, reason: "bind")
        }
    }
}
