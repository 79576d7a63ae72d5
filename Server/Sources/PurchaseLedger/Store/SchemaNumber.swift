/// The number of the newest migration of a database.
enum SchemaNumber {
    /// The query for the number.
    static let query = "SELECT max(number) FROM schema_migrations"

    /// The number; `nil` if the database has no schema of Assay.
    static func current(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Int64? {
        try number(try connection.rows(query, []))
    }

    /// Checks that a database has exactly this number.
    ///
    /// - Throws: `schemaTooNew` or `schemaTooOld`.
    static func require(_ number: Int64, _ connection: any LedgerConnection) throws(LedgerStorageError) {
        try require(number, found: try connection.rows(query, []))
    }

    /// Checks that the answer to the query is exactly this number.
    static func require(_ number: Int64, found rows: [LedgerRow]) throws(LedgerStorageError) {
        let found = try Self.number(rows) ?? 0
        guard found != number else { return }
        if let refusal = CopyMark.refusal(of: found) { throw refusal }
        throw LedgerStorageError(
            found > number ? .schemaTooNew : .schemaTooOld,
            "the database is at migration \(found), this version needs \(number)")
    }

    private static func number(_ rows: [LedgerRow]) throws(LedgerStorageError) -> Int64? {
        guard var reader = rows.first?.reader else { return nil }
        return try reader.optionalInteger()
    }
}
