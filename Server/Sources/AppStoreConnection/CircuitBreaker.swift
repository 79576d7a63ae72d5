/// Stops asking an environment that does not answer, and probes it now and then.
///
/// It has no clock: the time is a parameter.
public struct CircuitBreaker: Sendable {
    /// The number of undetermined attempts within the window that opens the circuit.
    public static let threshold = 5
    public static let window = Duration.seconds(30)
    /// The time between two probes, in seconds.
    public static let probeInterval = 15.0
    /// The maximum random change of that time, so that several servers do not probe at the same moment.
    public static let jitter = 0.2

    private var state = State.closed(failures: [])

    private enum State {
        /// The times of the last undetermined attempts, at most `threshold`.
        case closed(failures: [Duration])
        case open(probeAt: Duration)
        /// Whether a probe is in progress.
        case probing
    }

    /// Whether a call may be made.
    public enum Permit: Sendable, Equatable {
        case call
        /// One call, to see whether the environment answers again.
        case probe
        /// No calls until then.
        case refused(retryAfter: Duration)
    }

    /// The change that a report caused.
    public enum Change: Sendable, Equatable {
        case opened
        case closed
    }

    public init() {}

    /// Asks for a permit. Every permit except a refusal must be reported back.
    public mutating func permit(at now: Duration) -> Permit {
        switch state {
        case .closed: return .call
        case .open(let probeAt) where probeAt <= now:
            state = .probing
            return .probe
        case .open(let probeAt): return .refused(retryAfter: probeAt - now)
        case .probing: return .refused(retryAfter: .seconds(Self.probeInterval))
        }
    }

    /// Reports the outcome of a call.
    ///
    /// - Parameters:
    ///   - isAnswered: whether the environment answered, with any status for the receipt.
    ///   - random: from -1 to 1.
    public mutating func report(
        _ permit: Permit, isAnswered: Bool, at now: Duration, random: Double
    ) -> Change? {
        let probeAt = now + .seconds(Self.probeInterval * (1 + Self.jitter * random))
        switch (state, isAnswered) {
        case (.closed, true): return nil
        case (.closed(let failures), false):
            let recent = failures.filter { now - $0 < Self.window } + [now]
            guard recent.count >= Self.threshold else {
                state = .closed(failures: recent)
                return nil
            }
            state = .open(probeAt: probeAt)
            return .opened
        case (.open, true), (.probing, true):
            // Also for the late answer to an earlier call.
            state = .closed(failures: [])
            return .closed
        case (.probing, false) where permit == .probe:
            state = .open(probeAt: probeAt)
            return nil
        case (.open, false), (.probing, false): return nil
        }
    }

    /// Reports that the call of a permit was not made, or was cancelled before its end.
    public mutating func giveBack(_ permit: Permit, at now: Duration) {
        guard permit == .probe, case .probing = state else { return }
        state = .open(probeAt: now)
    }

    /// The state for others.
    public func circuit(at now: Duration) -> CircuitState {
        switch state {
        case .closed: .closed
        case .open(let probeAt): .open(nextProbeAfter: max(.zero, probeAt - now))
        case .probing: .open(nextProbeAfter: .seconds(Self.probeInterval))
        }
    }
}

/// The state of a circuit breaker.
public enum CircuitState: Sendable, Equatable {
    /// Calls are made.
    case closed
    /// No call is made except one probe, which may be made after the duration; zero if the next call is the probe.
    case open(nextProbeAfter: Duration)
}
