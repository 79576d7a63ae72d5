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

    /// Nothing yet.
    public init() {}
}
