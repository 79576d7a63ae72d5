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
