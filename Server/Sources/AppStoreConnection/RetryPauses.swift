public import NIOCore

/// The pauses before a question is asked again, within one call.
public enum RetryPauses {
    /// Three more attempts: after half a second, a second, and two.
    public static let seconds: [Double] = [0.5, 1, 2]

    /// The maximum random change of a pause, so that servers that failed at the same moment do not return at the same
    /// moment.
    public static let jitter = 0.5

    /// The pause after this number of undetermined attempts; `nil` if there is no further attempt.
    ///
    /// - Parameter random: from -1 to 1.
    public static func pause(after attempts: Int, _ persistence: ReplyJudgement.Persistence, random: Double)
        -> Duration?
    {
        let allowed =
            switch persistence {
            case .passing: seconds.count
            case .perhapsTheReceipt: 1
            case .lasting: 0
            }
        guard attempts >= 1, attempts <= allowed else { return nil }
        return .seconds(seconds[attempts - 1] * (1 + jitter * random))
    }
}

/// The time limits of the parts of one attempt. They are measured by the network's own clock.
public struct AttemptLimits: Sendable {
    /// Until the connection is established, including its encryption.
    public var connect: TimeAmount
    /// Between two pieces of the reply.
    public var read: TimeAmount
    /// The whole attempt.
    public var whole: TimeAmount

    public init(connect: TimeAmount = .seconds(3), read: TimeAmount = .seconds(8), whole: TimeAmount = .seconds(10)) {
        self.connect = connect
        self.read = read
        self.whole = whole
    }
}

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
