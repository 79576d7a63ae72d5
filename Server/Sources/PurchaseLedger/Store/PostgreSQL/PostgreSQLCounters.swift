import Synchronization

/// What the threads of a database share: the schema that writes require, and what was done.
final class PostgreSQLCounters: Sendable {
    private let state = Mutex(State())

    private struct State {
        var schema: Int64?
        var transactions = 0
        var writes = 0
        var roundTrips = 0
    }

    var schema: Int64? { state.withLock { $0.schema } }
    var commits: (transactions: Int, writes: Int) { state.withLock { ($0.transactions, $0.writes) } }
    var roundTrips: Int { state.withLock { $0.roundTrips } }

    func require(schema number: Int64) { state.withLock { $0.schema = number } }

    func add(transactions: Int = 0, writes: Int = 0, roundTrips: Int = 0) {
        state.withLock { state in
            state.transactions += transactions
            state.writes += writes
            state.roundTrips += roundTrips
        }
    }
}
