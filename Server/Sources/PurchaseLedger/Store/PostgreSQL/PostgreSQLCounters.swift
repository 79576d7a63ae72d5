import Synchronization

/// The state that the threads of a database share: the schema that writes require, and counters.
final class PostgreSQLCounters: Sendable {
    private let state = Mutex(State())

    private struct State {
        var schema: SchemaRange?
        var stop: LedgerStorageError?
        var figures = PostgreSQLWriterFigures()
    }

    var schema: SchemaRange? { state.withLock { $0.schema } }
    /// Why no write is accepted any more.
    var stop: LedgerStorageError? { state.withLock { $0.stop } }
    var figures: PostgreSQLWriterFigures { state.withLock { $0.figures } }

    func require(schema range: SchemaRange) { state.withLock { $0.schema = range } }
    func stop(_ error: LedgerStorageError) { state.withLock { $0.stop = error } }

    func add(
        transactions: Int = 0, writes: Int = 0, roundTrips: Int = 0, statements: Int = 0, decisions: Int = 0,
        lateTrips: Int = 0
    ) {
        state.withLock { state in
            state.figures.transactions += transactions
            state.figures.writes += writes
            state.figures.roundTrips += roundTrips
            state.figures.statements += statements
            state.figures.decisions += decisions
            state.figures.lateTrips += lateTrips
        }
    }
}
