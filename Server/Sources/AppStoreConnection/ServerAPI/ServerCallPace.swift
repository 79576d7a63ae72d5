import Synchronization

/// Spaces the calls of each app, operation and environment, so that Apple's limits are never exceeded.
final class ServerCallPace: Sendable {
    /// The longest that a call waits for its turn.
    static let longestWait = Duration.seconds(30)
    /// A pause that Apple asks for is at least and at most this long.
    static let shortestPause = Duration.seconds(1)
    static let longestPause = Duration.seconds(3600)
    /// The part of Apple's limit that is used: the network delays some calls more than others.
    static let usedPart = 0.95

    struct Key: Hashable {
        let app: String
        let operation: String
        let environment: ValidationEnvironment
    }

    private struct State {
        /// The earliest time of the next call.
        var next = Duration.zero
        /// The end of a pause that Apple asked for.
        var pausedUntil = Duration.zero
    }

    private let states = Mutex<[Key: State]>([:])
    private let factor: Double

    init(factor: Double) { self.factor = max(factor, 0.001) }

    /// The time between two calls.
    func spacing(_ callsPerSecond: Double, _ environment: ValidationEnvironment) -> Duration {
        let part = environment == .sandbox ? 0.1 : 1
        return .seconds(1 / (callsPerSecond * part * factor * Self.usedPart))
    }

    enum Turn {
        /// The call may be made after this time.
        case after(Duration)
        /// The call is not made.
        case refused(retryAfter: Duration, isPaused: Bool)
    }

    /// Reserves the next turn.
    func turn(_ key: Key, spacing: Duration, at now: Duration) -> Turn {
        states.withLock { states in
            var state = states[key, default: State()]
            if state.pausedUntil > now { return .refused(retryAfter: state.pausedUntil - now, isPaused: true) }
            let wait = max(.zero, state.next - now)
            if wait > Self.longestWait { return .refused(retryAfter: wait, isPaused: false) }
            state.next = now + wait + spacing
            states[key] = state
            return .after(wait)
        }
    }

    /// Makes no call until a time.
    ///
    /// - Returns: the pause, within the bounds.
    func pause(_ key: Key, for pause: Duration?, at now: Duration) -> Duration {
        let bounded = min(max(pause ?? .seconds(60), Self.shortestPause), Self.longestPause)
        states.withLock { states in
            var state = states[key, default: State()]
            state.pausedUntil = max(state.pausedUntil, now + bounded)
            states[key] = state
        }
        return bounded
    }
}
