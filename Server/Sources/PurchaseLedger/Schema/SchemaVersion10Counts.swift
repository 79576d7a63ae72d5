extension SchemaVersion10 {
    /// What the record counts by hour, for the console. The hour comes first: old hours are deleted as a range.
    static let counts: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE hourly_counts (
                hour INTEGER NOT NULL,
                app TEXT NOT NULL,
                kind TEXT NOT NULL,
                code TEXT NOT NULL,
                count INTEGER NOT NULL,
                PRIMARY KEY (hour, app, kind, code)) WITHOUT ROWID
            """)
    ]
}
