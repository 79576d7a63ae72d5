/// The number of the newest migration of a database, and the version of its rules.
enum SchemaNumber {
    /// The version of the rules by which this program decides. An entry at the start of a record names it. A release
    /// with other rules has a migration, too.
    static let rules: Int64 = 7
    /// The query for the number.
    private static let query = "SELECT max(number) FROM schema_migrations"
    /// The query for the number, the version of the rules, and the number of the settings.
    static let inForceQuery = """
        SELECT max(number), (SELECT max(version) FROM rules), (SELECT max(settings_key) FROM settings_history)
        FROM schema_migrations
        """

    /// The number; `nil` if the database has no schema of Assay.
    static func current(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Int64? {
        guard var reader = try connection.rows(query, []).first?.reader else { return nil }
        return try reader.optionalInteger()
    }

    /// Checks that a database has a schema, and rules that this version knows.
    ///
    /// - Throws: `schemaTooNew`, `schemaTooOld` or `rulesTooNew`.
    static func require(_ number: Int64, _ connection: any LedgerConnection) throws(LedgerStorageError) {
        try require(number, found: try connection.rows(inForceQuery, []))
    }

    /// Checks the answer to `inForceQuery`.
    ///
    /// - Returns: the number of the settings in force (`SettingsHistoryTable.number`).
    @discardableResult
    static func require(_ number: Int64, found rows: [LedgerRow]) throws(LedgerStorageError) -> Int64 {
        var (found, stored, settings): (Int64, Int64?, Int64) = (0, nil, 0)
        if var reader = rows.first?.reader {
            found = try reader.optionalInteger() ?? 0
            stored = try reader.optionalInteger()
            settings = try reader.optionalInteger() ?? 0
        }
        guard found == number else {
            if let refusal = CopyMark.refusal(of: found) { throw refusal }
            throw LedgerStorageError(
                found > number ? .schemaTooNew : .schemaTooOld,
                "the database is at migration \(found), this version needs \(number)")
        }
        if let stored, stored > rules {
            throw LedgerStorageError(
                .rulesTooNew,
                "the database is under version \(stored) of the rules, this version knows \(rules)")
        }
        return settings
    }
}
