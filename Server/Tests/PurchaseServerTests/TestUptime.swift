import Synchronization

/// Seconds that pass on the command of a test.
final class TestUptime: Sendable {
    private let seconds = Mutex(0.0)

    /// The current time.
    var read: @Sendable () -> Double {
        { self.seconds.withLock { $0 } }
    }

    func advance(seconds more: Double) {
        seconds.withLock { $0 += more }
    }
}
