import Foundation
import Logging
import NIOCore
import ServiceLifecycle

/// The service manager that started the program, such as systemd. It is told about each change of state with datagrams
/// to the socket that `NOTIFY_SOCKET` names (sd_notify(3)).
///
/// Nothing else in the program knows the protocol or the system's sockets for it.
struct ServiceManager: Sendable {
    /// The socket's address: a path, or a name that begins with a zero byte (an abstract socket of Linux).
    private let path: [UInt8]
    /// The time between two signs of life: half of the time after which the manager ends the program
    /// (sd_watchdog_enabled(3)). `nil` if the manager expects none.
    let watchdogInterval: Duration?

    /// A change of state.
    enum State {
        /// The server answers requests.
        case ready
        /// The settings are read again; `ready` follows.
        case reloading
        /// The program works.
        case alive
        /// The program ends.
        case stopping
    }

    /// The manager that the environment names; `nil` if it names none.
    init?(_ environment: [String: String], process: Int32 = ProcessInfo.processInfo.processIdentifier) {
        guard let name = environment["NOTIFY_SOCKET"], name.hasPrefix("/") || name.hasPrefix("@") else { return nil }
        var path = Array(name.utf8)
        if name.hasPrefix("@") { path[0] = 0 }
        guard path.count <= Self.longestPath else { return nil }
        self.path = path
        let isForOther = environment["WATCHDOG_PID"].map { $0 != "\(process)" } ?? false
        let limit = isForOther ? nil : environment["WATCHDOG_USEC"].flatMap { Int64($0) }
        watchdogInterval = limit.flatMap { $0 > 0 ? .microseconds($0 / 2) : nil }
    }

    /// Tells the manager.
    ///
    /// - Throws: `POSIXError` if the manager's socket does not take the message within a second.
    func tell(_ state: State) throws {
        let lines =
            switch state {
            case .ready: "READY=1\nSTATUS=Serving"
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)\nSTATUS=Reading the settings"
            case .alive: "WATCHDOG=1"
            case .stopping: "STOPPING=1\nSTATUS=Answering the last requests"
            }
        try send(Array(lines.utf8))
    }

    private func send(_ message: [UInt8]) throws {
        let descriptor = socket(AF_UNIX, Self.datagrams, 0)
        guard descriptor >= 0 else { throw Self.lastError }
        defer { close(descriptor) }
        // A manager that does not read must not stop a thread of the server for long.
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path) }
        // The length tells an abstract name from the zeros behind it.
        let header = MemoryLayout<sockaddr_un>.size - Self.longestPath
        let sent = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(descriptor, message, message.count, 0, address, socklen_t(header + path.count))
            }
        }
        guard sent == message.count else { throw Self.lastError }
    }

    private static var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    private static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    private static var monotonicMicroseconds: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
    }

    #if os(Linux)
        private static let datagrams = Int32(SOCK_DGRAM.rawValue)
    #else
        private static let datagrams = SOCK_DGRAM
    #endif
}

/// Tells the service manager that the server works, and at last that it stops.
///
/// A sign of life is sent only if every event loop answered. If one hangs, or if no thread is left for tasks, the
/// manager misses the sign and starts the server again. A database that is away is no reason for that: `/readyz`
/// reports it.
struct ServiceNotices: Service {
    let manager: ServiceManager
    let loops: any EventLoopGroup
    let logger: Logger

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            do {
                guard let interval = manager.watchdogInterval else { return try await gracefulShutdown() }
                while true {
                    for loop in loops.makeIterator() { try await loop.submit {}.get() }
                    tell(.alive)
                    try await Task.sleep(for: interval)
                }
            } catch is CancellationError {
                return
            }
        }
        tell(.stopping)
    }

    /// Tells the manager; a failure is logged, because the server can do without its manager.
    func tell(_ state: ServiceManager.State) {
        do {
            try manager.tell(state)
        } catch {
            logger.warning("the service manager did not get a message", metadata: ["error": "\(error)"])
        }
    }
}
