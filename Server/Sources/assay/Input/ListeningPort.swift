import Foundation
import NIOCore
import NIOPosix
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
        do {
            try ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(unixDomainSocketPath: path)
                .wait().close().wait()
            return true
        } catch {
            return false
        }
    }

    /// Checks that a server can listen on a port, before anything is created on disk for it.
    ///
    /// - Throws: `IOError`, as the server's own attempt would; `Unusable` for a name that does not resolve.
    static func requireFree(_ host: String, _ port: Int) throws {
        let address: SocketAddress
        do {
            address = try SocketAddress.makeAddressResolvingHost(host, port: port)
        } catch {
            throw Unusable(description: "the name of the host cannot be resolved")
        }
        // 0 selects a free port.
        guard port != 0 else { return }
        // As the server does, so that connections of a server that just ended do not count.
        try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1).bind(to: address).wait().close().wait()
    }
}
