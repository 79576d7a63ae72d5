import Synchronization

/// Seconds that pass when a test says so.
final class TestUptime: Sendable {
    private let seconds = Mutex(0.0)

    /// What time it is.
    var read: @Sendable () -> Double {
        { self.seconds.withLock { $0 } }
    }

    func advance(seconds more: Double) {
        seconds.withLock { $0 += more }
    }
}
