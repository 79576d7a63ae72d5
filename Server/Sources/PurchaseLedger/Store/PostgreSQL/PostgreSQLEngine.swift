/// What a server that speaks PostgreSQL's protocol is, by its own words.
///
/// The ledger's promises rest on what PostgreSQL does: locks that a transaction holds to its end, statements that see
/// what was committed before them, a commit that is on disk. A server that only resembles it can grant a purchase
/// twice.
package struct PostgreSQLEngine: Sendable {
    /// The oldest version that was run.
    static let oldest = 150_000
    /// The first version that was not run.
    static let unknown = 190_000
    /// What `version()` of other engines has, in their own documents, and their name.
    private static let others = [
        ("CockroachDB", "CockroachDB"), ("-YB-", "YugabyteDB"), ("Redshift", "Amazon Redshift"),
        ("Greenplum", "Greenplum"), ("Materialize", "Materialize"), ("CrateDB", "CrateDB"), ("QuestDB", "QuestDB"),
        ("RisingWave", "RisingWave"),
    ]

    /// The answer of `version()`.
    package var version: String
    /// `server_version_num`, such as 150018.
    package var number: Int
    /// Whether the connection has the time limits that it was opened with (`pg_settings.source` is `client`).
    package var takesOptions: Bool
    /// Whether the connection was opened with them.
    package var isGivenOptions: Bool

    package init(version: String, number: Int, takesOptions: Bool = true, isGivenOptions: Bool = true) {
        (self.version, self.number) = (version, number)
        (self.takesOptions, self.isGivenOptions) = (takesOptions, isGivenOptions)
    }

    /// Why the ledger is not kept in it; `nil` if it is.
    package var refusal: String? {
        for (mark, name) in Self.others where version.utf8.contains(mark.utf8) {
            return "the database is \(name), which has not been shown to keep what the ledger promises; use PostgreSQL "
                + "15 or later, or start with --unsupported-engine"
        }
        guard version.hasPrefix("PostgreSQL "), number >= Self.oldest else {
            return "the database says that it is '\(version.prefix(80))'; use PostgreSQL 15 or later, or start with "
                + "--unsupported-engine"
        }
        guard takesOptions || !isGivenOptions else {
            return "the connection did not get the time limits that it was opened with, as behind pgbouncer; add "
                + "assay_prepared_statements=off to the database's URL"
        }
        return nil
    }

    /// What a start says about a version that was not run; `nil` for others.
    package var remark: String? {
        guard number >= Self.unknown else { return nil }
        return
            "the database is PostgreSQL \(number / 10_000), which is newer than those that this version of Assay was run with (15 and 18)"
    }

    /// Asks a connection.
    ///
    /// - Returns: what it is; `nil` if it says nothing.
    /// - Throws: `unavailable` with the refusal.
    static func require(
        _ session: PostgreSQLSession, _ settings: PostgreSQLSettings
    ) throws(LedgerStorageError) -> PostgreSQLEngine? {
        let outputs: [PostgreSQLSession.Output]
        do throws(LedgerStorageError) {
            outputs = try session.run(
                [
                    "BEGIN",
                    """
                    SELECT pg_catalog.version(), pg_catalog.current_setting('server_version_num')::int,
                    (SELECT source = 'client' FROM pg_catalog.pg_settings WHERE name = 'lock_timeout'),
                    pg_catalog.pg_try_advisory_xact_lock(0)
                    """,
                    "ROLLBACK",
                ].map { PostgreSQLStatement($0, [LedgerValue]()) })
        } catch {
            guard error.kind != .unavailable else { throw error }
            throw LedgerStorageError(
                .unavailable,
                "the database does not answer what every PostgreSQL does (\(error)); use PostgreSQL 15 or later, or start "
                    + "with --unsupported-engine")
        }
        guard var reader = outputs[1].rows.first?.reader else { return nil }
        let engine = PostgreSQLEngine(
            version: try reader.text(), number: Int(try reader.integer()),
            takesOptions: try reader.optionalInteger() == 1, isGivenOptions: settings.preparesStatements)
        if let refusal = engine.refusal { throw LedgerStorageError(.unavailable, refusal) }
        return engine
    }
}
