/// The part of the fifth schema that finds who is concerned by a notification, whether an app gets any, and the grounds
/// of other shops.
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
        // The shop of a ground from outside, and what the shop calls it.
        .definition("ALTER TABLE hand_grants ADD COLUMN source TEXT"),
        .definition("ALTER TABLE hand_grants ADD COLUMN reference TEXT"),
        .definition(
            """
            CREATE INDEX hand_grants_by_reference ON hand_grants (app_key, source, reference, grant_key)
            WHERE source IS NOT NULL
            """),
    ]
}
