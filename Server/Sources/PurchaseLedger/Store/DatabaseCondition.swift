public import PurchaseVerification

/// What a database says about itself, for an operator who examines an installation.
public struct DatabaseCondition: Sendable, Equatable {
    /// The number of its newest migration; `nil` if it has no schema of Assay.
    public let schema: Int64?
    /// Its size in bytes.
    public let bytes: Int64
    /// The size of its write-ahead log in bytes; `nil` for PostgreSQL, whose log belongs to its server.
    public let writeAheadBytes: Int64?
    /// The time of the database's machine; `nil` if it is this machine.
    public let time: Timestamp?
    /// Settings under which purchases that were answered can be lost, as `fsync = off`.
    public let unsafeSettings: [String]
    /// Whether it refuses writes, as the copy of a replicated server does.
    public let isReadOnly: Bool

    /// Reads the condition of a database of any schema.
    public init(of database: any LedgerDatabase) async throws {
        let dialect = database.dialect
        self = try await database.read(.lists) { connection in
            let schema: Int64? = try dialect.hasMigrations(connection) ? try SchemaNumber.current(connection) : nil
            return try dialect.condition(connection, schema: schema)
        }
    }

    init(
        schema: Int64?, bytes: Int64, writeAheadBytes: Int64? = nil, time: Timestamp?, unsafeSettings: [String],
        isReadOnly: Bool
    ) {
        (self.schema, self.bytes, self.writeAheadBytes, self.time) = (schema, bytes, writeAheadBytes, time)
        (self.unsafeSettings, self.isReadOnly) = (unsafeSettings, isReadOnly)
    }
}
