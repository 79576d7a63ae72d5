import Synchronization

/// The state that the threads of a database share: the schema that writes require, and counters.
final class PostgreSQLCounters: Sendable {
    private let state = Mutex(State())

    private struct State {
        var schema: Int64?
        var figures = PostgreSQLWriterFigures()
        var load = DatabaseLoad()
    }

    var schema: Int64? { state.withLock { $0.schema } }
    var figures: PostgreSQLWriterFigures { state.withLock { $0.figures } }

    /// What was committed; what waits is not in it.
    var load: DatabaseLoad { state.withLock { $0.load } }

    /// Adds a committed transaction.
    func addCommit(writes: Int, commitSeconds: Double) {
        state.withLock { state in
            state.figures.transactions += 1
            state.figures.writes += writes
            if writes > 0 { state.load.add(writes: writes, commitSeconds: commitSeconds) }
        }
    }

    func require(schema number: Int64) { state.withLock { $0.schema = number } }

    func add(roundTrips: Int = 0, statements: Int = 0, decisions: Int = 0, lateTrips: Int = 0) {
        state.withLock { state in
            state.figures.roundTrips += roundTrips
            state.figures.statements += statements
            state.figures.decisions += decisions
            state.figures.lateTrips += lateTrips
        }
    }
}

/// Counters of the threads that write to PostgreSQL.
public struct PostgreSQLWriterFigures: Sendable {
    /// The number of committed transactions.
    public var transactions = 0
    /// The number of writes in committed transactions.
    public var writes = 0
    /// The number of times that statements were sent and their results awaited, including transactions that were not
    /// committed.
    public var roundTrips = 0
    /// The number of statements, including those of transactions that were not committed.
    public var statements = 0
    /// The number of times that a write was decided. It is more than the number of writes if some of them turned out to
    /// need other parts of the ledger than were locked for them, or were rolled back.
    public var decisions = 0
    /// The number of round trips in the middle of decisions, for rows that were not loaded before.
    public var lateTrips = 0

    /// All counters at zero.
    public init() {}
}
