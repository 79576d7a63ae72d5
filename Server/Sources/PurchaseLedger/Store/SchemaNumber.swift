/// The number of the newest migration of a database that has ended, and the version of its rules.
enum SchemaNumber {
    /// The query for the number.
    static let query = "SELECT max(number) FROM schema_migrations"
    /// The query for the number and the version of the rules.
    static let inForceQuery = "SELECT max(number), (SELECT max(version) FROM rules) FROM schema_migrations"

    /// The number; `nil` if the database has no schema of Assay.
    static func current(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Int64? {
        guard var reader = try connection.rows(query, []).first?.reader else { return nil }
        return try reader.optionalInteger()
    }

    /// Checks that a database has a schema and rules that can be written.
    ///
    /// - Throws: `schemaTooNew`, `schemaTooOld` or `rulesTooNew`.
    @discardableResult
    static func require(
        _ range: SchemaRange, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> SchemaInForce {
        try require(range, found: try connection.rows(inForceQuery, []))
    }

    /// Checks the answer to `inForceQuery`.
    static func require(_ range: SchemaRange, found rows: [LedgerRow]) throws(LedgerStorageError) -> SchemaInForce {
        var (number, rules): (Int64, Int64?) = (0, nil)
        if var reader = rows.first?.reader {
            number = try reader.optionalInteger() ?? 0
            rules = try reader.optionalInteger()
        }
        guard range.numbers.contains(number) else {
            if let refusal = CopyMark.refusal(of: number) { throw refusal }
            throw LedgerStorageError(
                number > range.numbers.upperBound ? .schemaTooNew : .schemaTooOld,
                "the database is at migration \(number), this version needs \(range.numbers.upperBound)")
        }
        if let rules, rules > range.rules.upperBound {
            throw LedgerStorageError(
                .rulesTooNew,
                "the database is under version \(rules) of the rules, this version knows \(range.rules.upperBound)")
        }
        return SchemaInForce(
            number: number, rules: rules, withheldKinds: number < range.numbers.upperBound ? range.newKinds : [])
    }
}
