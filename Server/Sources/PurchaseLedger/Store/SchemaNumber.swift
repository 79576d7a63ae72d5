/// The number of the newest migration of a database.
enum SchemaNumber {
    /// The number; `nil` if the database has no schema of Assay.
    static func current(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Int64? {
        guard let row = try connection.rows("SELECT max(number) FROM schema_migrations", []).first else { return nil }
        var reader = row.reader
        return try reader.optionalInteger()
    }

    /// Checks that a database has exactly this number.
    ///
    /// - Throws: `schemaTooNew` or `schemaTooOld`.
    static func require(_ number: Int64, _ connection: any LedgerConnection) throws(LedgerStorageError) {
        let found = try current(connection) ?? 0
        guard found != number else { return }
        throw LedgerStorageError(
            found > number ? .schemaTooNew : .schemaTooOld,
            "the database is at migration \(found), this version needs \(number)")
    }
}
