/// The progress of the delivery of an app's events to its webhooks.
enum SchemaVersion1Webhooks {
    /// A webhook has a cursor: every event up to it was delivered, or has a row in `webhook_deliveries`. So a purchase
    /// writes nothing for webhooks, and a successful first delivery leaves no row.
    static let statements: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE webhooks (
                webhook_key INTEGER PRIMARY KEY,
                app_key INTEGER NOT NULL,
                url TEXT NOT NULL,
                event_cursor INTEGER NOT NULL,
                revision INTEGER NOT NULL,
                lease_owner BLOB,
                lease_until INTEGER,
                disabled_at INTEGER,
                disabled_reason TEXT,
                UNIQUE (app_key, url))
            """),
        // `lane` is the customer, or 0. Only the first row of a lane has a time for its next attempt.
        .definition(
            """
            CREATE TABLE webhook_deliveries (
                webhook_key INTEGER NOT NULL,
                event_key INTEGER NOT NULL,
                lane INTEGER NOT NULL,
                state TEXT NOT NULL,
                attempts INTEGER NOT NULL,
                first_at INTEGER,
                next_at INTEGER,
                last_error TEXT,
                PRIMARY KEY (webhook_key, event_key)) WITHOUT ROWID
            """),
        .definition(
            "CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_key, next_at) WHERE next_at IS NOT NULL"
        ),
        .definition(
            """
            CREATE INDEX webhook_deliveries_by_lane ON webhook_deliveries (webhook_key, lane, event_key)
            WHERE state IN ('waiting', 'retry', 'gap')
            """),
    ]
}
