import AppStoreConnection
import Synchronization

/// A clock that stands still until it is moved. A sleeper moves it instead of waiting.
final class ManualClock: Sendable {
    private let state = Mutex(State())

    private struct State {
        var now = Duration.zero
        var sleeps: [Duration] = []
    }

    /// The clock, with a random number that is always the same.
    func connectionClock(random: Double = 0) -> ConnectionClock {
        ConnectionClock(
            now: { self.state.withLock { $0.now } },
            sleep: { pause in
                self.state.withLock { state in
                    state.now += pause
                    state.sleeps.append(pause)
                }
            },
            random: { random })
    }

    func advance(_ duration: Duration) { state.withLock { $0.now += duration } }

    /// The pauses so far.
    var sleeps: [Duration] { state.withLock { $0.sleeps } }
}
