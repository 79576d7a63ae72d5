import Synchronization

/// The state that the threads of a database share: the schema that writes require, and counters.
final class PostgreSQLCounters: Sendable {
    private let state = Mutex(State())

    private struct State {
        var schema: SchemaRange?
        var stop: LedgerStorageError?
        var figures = PostgreSQLWriterFigures()
        var load = DatabaseLoad()
    }

    var schema: SchemaRange? { state.withLock { $0.schema } }
    /// Why no write is accepted any more.
    var stop: LedgerStorageError? { state.withLock { $0.stop } }
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

    func require(schema range: SchemaRange) { state.withLock { $0.schema = range } }
    func stop(_ error: LedgerStorageError) { state.withLock { $0.stop = error } }

    func add(roundTrips: Int = 0, statements: Int = 0, decisions: Int = 0, lateTrips: Int = 0) {
        state.withLock { state in
            state.figures.roundTrips += roundTrips
            state.figures.statements += statements
            state.figures.decisions += decisions
            state.figures.lateTrips += lateTrips
        }
    }
}
