import Synchronization

/// The state that the threads of a database share: the schema that writes require, and counters.
final class PostgreSQLCounters: Sendable {
    private let state = Mutex(State())

    private struct State {
        var schema: Int64?
        var figures = PostgreSQLWriterFigures()
    }

    var schema: Int64? { state.withLock { $0.schema } }
    var figures: PostgreSQLWriterFigures { state.withLock { $0.figures } }

    func require(schema number: Int64) { state.withLock { $0.schema = number } }

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
