import Foundation
import NIOCore

/// The port that a server is going to listen on.
enum ListeningPort {
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
