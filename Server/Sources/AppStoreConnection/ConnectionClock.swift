import NIOCore

/// The clock of the pauses and of the circuit breaker. Tests use one that they move by hand.
public struct ConnectionClock: Sendable {
    /// The time since some beginning; it never goes back.
    let now: @Sendable () -> Duration
    /// Waits; throws if the task is cancelled.
    let sleep: @Sendable (Duration) async throws -> Void
    /// A random number from -1 to 1.
    let random: @Sendable () -> Double

    public init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> Double = { Double.random(in: -1...1) }
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// The machine's clock.
    public static let system = ConnectionClock(
        now: {
            let passed = NIODeadline.now() - .uptimeNanoseconds(0)
            return .nanoseconds(passed.nanoseconds)
        },
        sleep: { try await Task.sleep(for: $0) })
}
