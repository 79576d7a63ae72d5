import Synchronization

/// What the threads of a database share: the schema that writes require, and what was done.
final class PostgreSQLCounters: Sendable {
    private let state = Mutex(State())

    private struct State {
        var schema: Int64?
        var figures = PostgreSQLWriterFigures()
    }

    var schema: Int64? { state.withLock { $0.schema } }
    var figures: PostgreSQLWriterFigures { state.withLock { $0.figures } }

    func require(schema number: Int64) { state.withLock { $0.schema = number } }

    func add(transactions: Int = 0, writes: Int = 0, roundTrips: Int = 0, statements: Int = 0) {
        state.withLock { state in
            state.figures.transactions += transactions
            state.figures.writes += writes
            state.figures.roundTrips += roundTrips
            state.figures.statements += statements
        }
    }
}

/// What the threads that write to PostgreSQL have done.
public struct PostgreSQLWriterFigures: Sendable {
    /// Transactions that were committed.
    public var transactions = 0
    /// Writes in them.
    public var writes = 0
    /// How often statements were sent and their results waited for, also for transactions that were not committed.
    public var roundTrips = 0
    /// Statements, also those.
    public var statements = 0
}
