/// The part of the eighth schema about extensions of subscriptions.
enum SchemaVersion8Extensions {
    static let statements: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE extension_requests (
                entry_key INTEGER NOT NULL,
                app_key INTEGER NOT NULL,
                original_key INTEGER NOT NULL,
                request_id TEXT NOT NULL,
                days INTEGER NOT NULL,
                reason TEXT NOT NULL,
                requested_at INTEGER NOT NULL,
                state TEXT NOT NULL,
                answer_entry INTEGER,
                next_at INTEGER NOT NULL,
                attempts INTEGER NOT NULL,
                leased_until INTEGER,
                PRIMARY KEY (entry_key)) WITHOUT ROWID
            """),
        .definition("CREATE UNIQUE INDEX extension_requests_by_request ON extension_requests (app_key, request_id)"),
        .definition("CREATE INDEX extension_requests_by_original ON extension_requests (original_key, entry_key)"),
        .definition(
            "CREATE INDEX extension_requests_open ON extension_requests (next_at, entry_key) WHERE state = 'open'"),
    ]
}
