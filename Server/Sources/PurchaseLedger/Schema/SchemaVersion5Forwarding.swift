/// Notifications that are forwarded to other URLs.
enum SchemaVersion5Forwarding {
    /// A webhook gets the events of the app (environment 0), or the notifications of an environment. So one URL can get
    /// the notifications of each environment. For notifications, `event_cursor` and `webhook_deliveries.event_key` are
    /// entries.
    static let statements: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE webhooks_by_environment (
                webhook_key INTEGER PRIMARY KEY,
                app_key INTEGER NOT NULL,
                environment INTEGER NOT NULL,
                url TEXT NOT NULL,
                event_cursor INTEGER NOT NULL,
                revision INTEGER NOT NULL,
                lease_owner BLOB,
                lease_until INTEGER,
                disabled_at INTEGER,
                disabled_reason TEXT,
                UNIQUE (app_key, environment, url))
            """),
        .sql(
            """
            INSERT INTO webhooks_by_environment (webhook_key, app_key, environment, url, event_cursor, revision, lease_owner,
            lease_until, disabled_at, disabled_reason)
            SELECT webhook_key, app_key, 0, url, event_cursor, revision, lease_owner, lease_until, disabled_at, disabled_reason
            FROM webhooks
            """),
        .sql("DROP TABLE webhooks"),
        .sql("ALTER TABLE webhooks_by_environment RENAME TO webhooks"),
        // The request body of a notification, where it is not `{"signedPayload":"…"}` around the evidence.
        .definition(
            """
            CREATE TABLE notification_bodies (
                evidence_key INTEGER NOT NULL,
                body BLOB NOT NULL,
                PRIMARY KEY (evidence_key)) WITHOUT ROWID
            """),
    ]
}
