public import PurchaseVerification

/// How far the record is sealed, for an operator who examines an installation.
public struct RecordState: Sendable, Equatable {
    /// The leaves of the Merkle log.
    public let size: Int64
    /// The entries that are not in it yet.
    public let pending: PendingEntries
    /// The time of the newest entry of the journal; `nil` if it has none.
    public let newestEntry: Timestamp?

    /// Reads the state of a database that has this version's schema.
    public init(of database: any LedgerDatabase) async throws {
        self = try await database.read(.lists) { try RecordState($0) }
    }

    private init(_ connection: any LedgerConnection) throws(LedgerStorageError) {
        size = try LogStateTable(connection: connection).row().size
        pending = try LogStateTable(connection: connection).pending()
        let rows = try connection.rows("SELECT at FROM journal ORDER BY entry_key DESC LIMIT 1", [])
        var newest: Timestamp?
        if var reader = rows.first?.reader { newest = try reader.time() }
        newestEntry = newest
    }
}
