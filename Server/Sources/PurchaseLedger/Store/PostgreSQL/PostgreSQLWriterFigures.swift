/// Counters of the threads that write to PostgreSQL.
public struct PostgreSQLWriterFigures: Sendable {
    /// The number of committed transactions.
    public var transactions = 0
    /// The number of writes in committed transactions.
    public var writes = 0
    /// The number of times that statements were sent and their results awaited, including transactions that were not committed.
    public var roundTrips = 0
    /// The number of statements, including those of transactions that were not committed.
    public var statements = 0

    /// All counters at zero.
    public init() {}
}
