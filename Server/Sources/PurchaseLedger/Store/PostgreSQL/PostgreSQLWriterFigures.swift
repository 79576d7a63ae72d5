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
