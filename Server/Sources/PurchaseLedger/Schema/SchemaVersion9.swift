/// The ninth schema: the app receipts of each download of the app.
enum SchemaVersion9 {
    static let migration = LedgerMigration(
        number: 9, title: "App receipts by download of the app",
        statements: [
            // Finds the newest receipt that was signed for a download. `part_key` is the shared part of its stored
            // form, or 0. Evidence that was stored before this schema is not in it.
            .definition(
                """
                CREATE TABLE app_receipts (
                    app_key INTEGER NOT NULL,
                    environment INTEGER NOT NULL,
                    download_id INTEGER NOT NULL,
                    created_at INTEGER NOT NULL,
                    evidence_key INTEGER NOT NULL,
                    part_key INTEGER NOT NULL,
                    originals BLOB NOT NULL,
                    PRIMARY KEY (app_key, environment, download_id, created_at, evidence_key)) WITHOUT ROWID
                """),
            .definition("CREATE INDEX app_receipts_by_evidence ON app_receipts (evidence_key)"),
        ])
}
