import Foundation
import NIOCore
import PurchaseServer

/// The port that a server is going to listen on.
enum ListeningPort {
    /// Checks that a server can listen for operators.
    ///
    /// - Throws: `IOError`, as the server's own attempt would; also for a socket on which a program answers, which the
    ///   server would replace. `Unusable` for a name that does not resolve, and for a socket that cannot be created.
    static func requireFree(_ address: AdminAddress) throws {
        switch address {
        case .off: return
        case .port(let host, let port): try requireFree(host, port)
        case .socket(let path):
            if isAnswered(path) { throw IOError(errnoCode: EADDRINUSE, reason: "bind") }
            try requireFolder(of: path)
        }
    }

    /// Why nothing can listen at an address.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// Checks that a socket can be created.
    private static func requireFolder(of path: String) throws {
        let manager = FileManager.default
        let folder = (path as NSString).deletingLastPathComponent
        var isFolder: ObjCBool = false
        guard manager.fileExists(atPath: folder, isDirectory: &isFolder) else {
            throw Unusable(description: "the folder '\(folder)' does not exist")
        }
        guard isFolder.boolValue else { throw Unusable(description: "'\(folder)' is not a folder") }
        guard manager.isWritableFile(atPath: folder) else {
            throw Unusable(description: "this user may not create files in '\(folder)'")
        }
        // The server replaces a socket that an earlier one left.
        let type = (try? manager.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
        guard type == nil || type == .typeSocket else { throw Unusable(description: "it exists, and is not a socket") }
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
    /// - Throws: `IOError`, as the server's own attempt would; `Unusable` for a name that does not resolve.
    static func requireFree(_ host: String, _ port: Int) throws {
        var hints = addrinfo()
        #if os(Linux)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let address = found else {
            throw Unusable(description: "the name of the host cannot be resolved")
        }
        defer { freeaddrinfo(found) }
        // 0 selects a free port.
        guard port != 0 else { return }
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
