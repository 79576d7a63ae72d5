/// Counters of the threads that write to PostgreSQL.
public struct PostgreSQLWriterFigures: Sendable {
    /// Transactions that were committed.
    public var transactions = 0
    /// The number of writes in committed transactions.
    public var writes = 0
    /// How often statements were sent and their results waited for, also for transactions that were not committed.
    public var roundTrips = 0
    /// The number of statements, also of transactions that were not committed.
    public var statements = 0

    /// All counters at zero.
    public init() {}
}
