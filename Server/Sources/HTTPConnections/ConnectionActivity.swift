import NIOCore
import Synchronization

/// Whether a connection waits for a request, and since when.
public final class ConnectionActivity: Sendable {
    /// In nanoseconds of `NIODeadline`; 0 while a request is answered.
    private let idle: Atomic<UInt64>

    /// A connection that was just opened.
    public init() { idle = Atomic(NIODeadline.now().uptimeNanoseconds) }

    /// When it began to wait for a request, in nanoseconds of the system's uptime; `nil` while one is answered.
    public var idleSince: UInt64? {
        let time = idle.load(ordering: .relaxed)
        return time == 0 ? nil : time
    }

    func begin() { idle.store(0, ordering: .relaxed) }

    func end() { idle.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed) }
}
