public import NIOCore

/// Limits the calls in progress and the calls that wait for their turn.
public actor CallLimit {
    /// Calls of one app, so that one app does not use all connections.
    public static let callsPerApp = 16
    /// Calls of all apps; the number of connections.
    public static let callsInAll = 64
    /// Waiting calls of one app. Each holds a receipt; at 16 calls a second they take their turn within seconds.
    public static let waitingPerApp = 256

    private let callsPerApp: Int
    private var calls: [String: Int] = [:]
    private var all = 0
    private var waiting: [(app: String, turn: CheckedContinuation<Void, Never>)] = []

    /// - Parameter callsPerApp: calls of one app in progress; at most `callsInAll` are made at once.
    public init(callsPerApp: Int = CallLimit.callsPerApp) { self.callsPerApp = max(1, callsPerApp) }

    /// Waits for a turn.
    ///
    /// - Returns: whether the caller got a turn; false if too many wait. A turn must be released with `leave`.
    public func enter(_ app: String) async -> Bool {
        if calls[app, default: 0] < callsPerApp, all < Self.callsInAll {
            begin(app)
            return true
        }
        guard waiting.count(where: { $0.app == app }) < Self.waitingPerApp else { return false }
        await withCheckedContinuation { waiting.append((app, $0)) }
        return true
    }

    /// Releases a turn.
    public func leave(_ app: String) {
        all -= 1
        let left = calls[app, default: 1] - 1
        calls[app] = left == 0 ? nil : left
        // The first that may begin; others of a full app are passed over.
        guard let next = waiting.firstIndex(where: { calls[$0.app, default: 0] < callsPerApp }) else { return }
        let call = waiting.remove(at: next)
        begin(call.app)
        call.turn.resume()
    }

    private func begin(_ app: String) {
        all += 1
        calls[app, default: 0] += 1
    }

    /// The calls in progress and the waiting ones.
    public var counts: (calls: Int, waiting: Int) { (all, waiting.count) }
}

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
