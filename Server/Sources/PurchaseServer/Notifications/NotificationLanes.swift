import Foundation
import Synchronization

/// The processor time for notifications whose certificates were not verified before.
///
/// A genuine notification has the certificate header of earlier ones, so it costs a signature or two. A header that was
/// never seen costs a search of its path, which a forger can make expensive; together these get a tenth of one core.
final class NotificationLanes: Sendable {
    /// The part of one core.
    private static let share = 0.1
    /// The seconds of processor time that can be used at once after a pause: about 25 of the most expensive searches.
    private static let burst = 0.05

    private let uptime: @Sendable () -> Double
    private let state: Mutex<State>

    private struct State {
        /// The seconds that may be used; negative if the last search took longer than was left.
        var seconds: Double
        var time: Double
    }

    /// - Parameter uptime: seconds since any moment, never going back.
    init(uptime: @escaping @Sendable () -> Double) {
        self.uptime = uptime
        state = Mutex(State(seconds: Self.burst, time: uptime()))
    }

    /// Whether an unknown header may be verified now.
    func admitsUnknownHeader() -> Bool {
        let now = uptime()
        return state.withLock { state in
            state.seconds = min(Self.burst, state.seconds + max(0, now - state.time) * Self.share)
            state.time = max(now, state.time)
            guard state.seconds > 0 else { return false }
            // At least this is taken at once, so that many that arrive together are not all admitted.
            state.seconds -= Self.leastCost
            return true
        }
    }

    /// The seconds of processor time that this thread has used. What other programs take on a busy machine is not the
    /// cost of a verification.
    static var processorSeconds: Double {
        var time = timespec()
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The processor time of the cheapest verification of an unknown header, in seconds.
    private static let leastCost = 0.0002

    /// Takes the processor time of a verification.
    func use(_ seconds: Double) {
        state.withLock { $0.seconds -= max(0, seconds - Self.leastCost) }
    }
}
