/// The part of the sixth schema that finds the members of a seat by their download of the app, and the held purchases.
enum SchemaVersion6Holders {
    static let statements: [LedgerMigration.Statement] = [
        // A member of a seat has no transaction that states the download.
        .definition(
            """
            CREATE INDEX seats_by_app_transaction ON seats (app_key, app_transaction_id, entry_key)
            WHERE app_transaction_id IS NOT NULL
            """),
        // Most purchases have an owner, so the index has few rows.
        .definition(
            """
            CREATE INDEX transactions_held ON transactions (transaction_key)
            WHERE owner_key IS NULL AND product_key <> 0
            """),
    ]
}
