import PurchaseVerification

/// The fourth schema: notifications of the App Store.
enum SchemaVersion4 {
    static let migration = LedgerMigration(
        number: 4, title: "Notifications of the App Store", statements: notifications)

    /// Each notification once, with the entry of its first delivery. The lists by type and of all read the newest
    /// entries.
    private static let notifications: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE notifications (
                app_key INTEGER NOT NULL,
                environment INTEGER NOT NULL,
                notification_id TEXT NOT NULL,
                entry_key INTEGER NOT NULL,
                type TEXT,
                subtype TEXT,
                PRIMARY KEY (app_key, environment, notification_id)) WITHOUT ROWID
            """),
        .definition("CREATE INDEX notifications_by_entry ON notifications (app_key, entry_key)"),
        .definition("CREATE INDEX notifications_by_type ON notifications (app_key, type, entry_key)"),
        // 23 is `JournalKind.notification`.
        .definition(
            """
            CREATE INDEX journal_notifications ON journal (customer_key, entry_key)
            WHERE kind = 23 AND customer_key IS NOT NULL
            """),
    ]
}
