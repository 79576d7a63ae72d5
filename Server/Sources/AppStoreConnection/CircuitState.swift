/// The state of a circuit breaker.
public enum CircuitState: Sendable, Equatable {
    /// Calls are made.
    case closed
    /// No call is made except one probe, which may be made after the duration; zero if the next call is the probe.
    case open(nextProbeAfter: Duration)
}
