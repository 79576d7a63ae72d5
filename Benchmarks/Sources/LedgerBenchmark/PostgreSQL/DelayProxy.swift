import Foundation
import SQLiteFloor

/// A proxy in front of PostgreSQL that delivers data with a delay, to simulate a database on another machine. Half of
/// the delay applies to each direction.
final class DelayProxy: @unchecked Sendable {
    // Unchecked because nothing changes after the initialiser.
    /// The port on 127.0.0.1.
    let port: Int
    private let target: Int
    private let listener: Int32
    private let delay: Duration

    /// A proxy to a port of 127.0.0.1.
    ///
    /// - Parameter delay: the time that it adds to a round trip.
    init(to target: Int, delay: Duration) throws {
        (self.target, self.delay) = (target, delay / 2)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isOpen else { throw BenchmarkError("no port for the proxy: \(errno)") }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread { [self] in accept() }.start()
    }

    /// Ends the proxy.
    func close() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { break }
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.address(target)
            let status = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard status == 0 else {
                _ = (Glibc.close(client), Glibc.close(server))
                continue
            }
            var yes: Int32 = 1
            for socket in [client, server] {
                setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
            }
            forward(from: client, to: server)
            forward(from: server, to: client)
        }
    }

    /// Two threads for one direction: one reads, the other waits and writes.
    private func forward(from source: Int32, to target: Int32) {
        let queue = Queue()
        let delay = delay
        let reader = Thread {
            var buffer = [UInt8](repeating: 0, count: 1 << 18)
            while true {
                let count = recv(source, &buffer, buffer.count, 0)
                queue.add(ContinuousClock.now + delay, count > 0 ? Array(buffer[0..<count]) : nil)
                guard count > 0 else { break }
            }
        }
        let writer = Thread {
            while let (moment, bytes) = queue.take() {
                let rest = (moment - ContinuousClock.now).seconds
                if rest > 0 { usleep(UInt32(rest * 1e6)) }
                var sent = 0
                while sent < bytes.count {
                    let count = bytes.withUnsafeBytes { buffer in
                        send(target, buffer.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { break }
                    sent += count
                }
            }
            shutdown(target, Int32(SHUT_RDWR))
        }
        reader.start()
        writer.start()
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// The data that waits for its time. Unchecked because the condition guards it.
    private final class Queue: @unchecked Sendable {
        private let condition = NSCondition()
        private var waiting: [(ContinuousClock.Instant, [UInt8]?)] = []

        func add(_ moment: ContinuousClock.Instant, _ bytes: [UInt8]?) {
            condition.lock()
            waiting.append((moment, bytes))
            condition.signal()
            condition.unlock()
        }

        func take() -> (ContinuousClock.Instant, [UInt8])? {
            condition.lock()
            defer { condition.unlock() }
            while waiting.isEmpty { condition.wait() }
            let (moment, bytes) = waiting.removeFirst()
            return bytes.map { (moment, $0) }
        }
    }
}
