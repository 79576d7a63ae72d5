import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A proxy in front of PostgreSQL that cuts connections at a commit.
///
/// It looks for the text `COMMIT` in the data that a client sends, so statements must not be prepared.
final class CuttingProxy: Sendable {
    /// The point at which a connection is cut.
    enum Cut: Sendable {
        /// The commit is not forwarded, so PostgreSQL rolls back.
        case beforeCommit
        /// The commit is forwarded, and its answer is not.
        case afterCommit
    }

    /// The text of the statement and of its answer, with the terminating byte: `READ COMMITTED` is not a commit.
    private static let commit = Array("COMMIT\0".utf8)

    /// The port on 127.0.0.1.
    let port: Int
    private let listener: Int32
    private let target: Int
    private let state = Mutex(State())

    private struct State {
        var cuts: [Cut] = []
        var done = 0
        var isRefusing = false
        var sockets: Set<Int32> = []
    }

    struct SocketError: Error {
        let call: String
        let code: Int32
    }

    /// A proxy to a port of 127.0.0.1.
    init(to target: Int) throws {
        self.target = target
        guard let listener = Self.socket() else { throw SocketError(call: "socket", code: errno) }
        self.listener = listener
        var address = Self.address(0)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0, listen(listener, 128) == 0 else { throw SocketError(call: "bind", code: errno) }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(listener, $0, &length) }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        let thread = Thread { [self] in accept() }
        thread.start()
    }

    /// The number of connections that were cut.
    var cuts: Int { state.withLock { $0.done } }

    /// Cuts the connections of the next commits.
    func cut(_ next: [Cut]) { state.withLock { $0.cuts = next } }

    /// Ends every connection, and refuses new ones until it is called with `false`.
    func refuse(_ isRefusing: Bool) {
        let sockets = state.withLock { state in
            state.isRefusing = isRefusing
            return isRefusing ? state.sockets : []
        }
        for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    /// Ends the proxy.
    func close() {
        refuse(true)
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func accept() {
        while true {
            let client = Self.accepted(listener)
            guard client >= 0 else { break }
            guard !state.withLock({ $0.isRefusing }), let server = connect() else {
                Self.end(client)
                continue
            }
            state.withLock { _ = ($0.sockets.insert(client), $0.sockets.insert(server)) }
            let pair = Pair(client: client, server: server)
            Thread { [self] in forward(pair) }.start()
            Thread { [self] in answer(pair) }.start()
        }
        Self.end(listener)
    }

    private final class Pair: Sendable {
        let client: Int32
        let server: Int32
        let isCut = Mutex(false)
        private let users = Mutex(2)

        init(client: Int32, server: Int32) {
            self.client = client
            self.server = server
        }

        /// Whether both directions have ended.
        func leave() -> Bool {
            users.withLock { users in
                users -= 1
                return users == 0
            }
        }
    }

    /// From the client to the server.
    private func forward(_ pair: Pair) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(pair.client, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            let bytes = Array(buffer[0..<count])
            // The statements of one round trip arrive together, or the last of several parts contains the commit.
            if Self.contains(bytes, Self.commit), let cut = next() {
                pair.isCut.withLock { $0 = true }
                if cut == .afterCommit {
                    Self.send(bytes, to: pair.server)
                    // The server's answer confirms the commit.
                    var answer: [UInt8] = []
                    var part = [UInt8](repeating: 0, count: 1 << 16)
                    while !Self.contains(answer, Self.commit) {
                        let count = recv(pair.server, &part, part.count, 0)
                        guard count > 0 else { break }
                        answer += part[0..<count]
                    }
                }
                state.withLock { $0.done += 1 }
                for socket in [pair.server, pair.client] { shutdown(socket, Int32(SHUT_RDWR)) }
                break
            }
            guard Self.send(bytes, to: pair.server) else { break }
        }
        finish(pair)
    }

    /// From the server to the client.
    private func answer(_ pair: Pair) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            // The answer is only inspected, so that a cut can drop it.
            let seen = recv(pair.server, &buffer, buffer.count, Int32(MSG_PEEK))
            guard seen > 0, !pair.isCut.withLock({ $0 }) else { break }
            let count = recv(pair.server, &buffer, buffer.count, 0)
            guard count > 0, Self.send(Array(buffer[0..<count]), to: pair.client) else { break }
        }
        if !pair.isCut.withLock({ $0 }) { shutdown(pair.client, Int32(SHUT_RDWR)) }
        finish(pair)
    }

    private func finish(_ pair: Pair) {
        guard pair.leave() else {
            // The other direction notices, unless it still waits for the answer to a commit.
            if !pair.isCut.withLock({ $0 }) { shutdown(pair.server, Int32(SHUT_RDWR)) }
            return
        }
        state.withLock { _ = ($0.sockets.remove(pair.client), $0.sockets.remove(pair.server)) }
        Self.end(pair.client)
        Self.end(pair.server)
    }

    private func next() -> Cut? { state.withLock { $0.cuts.isEmpty ? nil : $0.cuts.removeFirst() } }

    /// A connection to the server; `nil` if it cannot be reached.
    private func connect() -> Int32? {
        guard let server = Self.socket() else { return nil }
        var address = Self.address(target)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Self.connected(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            Self.end(server)
            return nil
        }
        return server
    }

    // MARK: Sockets

    private static func socket() -> Int32? {
        #if canImport(Glibc)
            let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        return descriptor >= 0 ? descriptor : nil
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func accepted(_ listener: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.accept(listener, nil, nil)
        #else
            Darwin.accept(listener, nil, nil)
        #endif
    }

    private static func connected(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
        #if canImport(Glibc)
            Glibc.connect(socket, address, length)
        #else
            Darwin.connect(socket, address, length)
        #endif
    }

    private static func end(_ socket: Int32) {
        #if canImport(Glibc)
            _ = Glibc.close(socket)
        #else
            _ = Darwin.close(socket)
        #endif
    }

    @discardableResult
    private static func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                #if canImport(Glibc)
                    Glibc.send(socket, buffer.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
                #else
                    Darwin.send(socket, buffer.baseAddress.map { $0 + sent }, bytes.count - sent, 0)
                #endif
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private static func contains(_ bytes: [UInt8], _ word: [UInt8]) -> Bool {
        guard bytes.count >= word.count else { return false }
        return (0...(bytes.count - word.count)).contains { start in
            bytes[start] == word[0] && bytes[start..<(start + word.count)].elementsEqual(word)
        }
    }
}
