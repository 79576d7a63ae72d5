/// The part of the fifth schema that finds who is concerned by a notification, and whether an app gets any.
enum SchemaVersion5News {
    static let statements: [LedgerMigration.Statement] = [
        // The newest notification of an app and environment.
        .definition("CREATE INDEX notifications_by_environment ON notifications (app_key, environment, entry_key)"),
        // The download of the app that signed data states. The rebuild under the new rules fills it.
        .definition("ALTER TABLE transactions ADD COLUMN app_transaction_id TEXT"),
        .definition(
            """
            CREATE INDEX transactions_by_app_transaction ON transactions (environment, app_transaction_id)
            WHERE app_transaction_id IS NOT NULL
            """),
    ]
}
