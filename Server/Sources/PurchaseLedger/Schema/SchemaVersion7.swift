/// The seventh schema: what is asked of the App Store Server API, and when.
enum SchemaVersion7 {
    static let migration = LedgerMigration(
        number: 7, title: "Questions to the App Store Server API that are not about a claim",
        statements: [
            // A row for each notification history, subscription and account token. The subject is a bundle id or an
            // original transaction id; `progress` is where the work continues. While `next_at` has a value, something
            // is left to be done. `scheduled` counts how often it was scheduled, so that work that is done meanwhile
            // does not end what was scheduled later.
            .definition(
                """
                CREATE TABLE app_store_tasks (
                    kind TEXT NOT NULL,
                    app_key INTEGER NOT NULL,
                    environment INTEGER NOT NULL,
                    subject TEXT NOT NULL,
                    progress TEXT,
                    scheduled INTEGER NOT NULL,
                    attempts INTEGER NOT NULL,
                    next_at INTEGER,
                    leased_until INTEGER,
                    PRIMARY KEY (kind, app_key, environment, subject)) WITHOUT ROWID
                """),
            .definition(
                """
                CREATE INDEX app_store_tasks_due ON app_store_tasks (next_at, kind, app_key, environment, subject)
                WHERE next_at IS NOT NULL
                """),
        ])
}
