import PurchaseVerification

/// The claims of seats, what each subscription with claims gives its members, and the ids that are never claimed again.
enum SchemaVersion5Seats {
    static let statements: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE seats (
                entry_key INTEGER NOT NULL,
                app_key INTEGER NOT NULL,
                original_key INTEGER NOT NULL,
                seat_id TEXT NOT NULL,
                customer_key INTEGER NOT NULL,
                request_id TEXT NOT NULL,
                app_transaction_id TEXT,
                claimed_at INTEGER NOT NULL,
                ended_at INTEGER,
                PRIMARY KEY (entry_key)) WITHOUT ROWID
            """),
        .definition("CREATE UNIQUE INDEX seats_by_id ON seats (app_key, seat_id)"),
        .definition("CREATE UNIQUE INDEX seats_by_request ON seats (original_key, request_id)"),
        .definition("CREATE INDEX seats_by_customer ON seats (customer_key, original_key)"),
        .definition("CREATE INDEX seats_by_original ON seats (original_key, entry_key)"),
        .definition("CREATE INDEX seats_in_force ON seats (original_key, entry_key) WHERE ended_at IS NULL"),
        .definition(
            """
            CREATE TABLE seat_access (
                original_key INTEGER NOT NULL,
                product_key INTEGER NOT NULL,
                environment INTEGER NOT NULL,
                timeline BLOB NOT NULL,
                numbers BLOB NOT NULL,
                PRIMARY KEY (original_key, product_key)) WITHOUT ROWID
            """),
        .definition(
            """
            CREATE TABLE unclaimed_seats (
                app_key INTEGER NOT NULL,
                seat_id TEXT NOT NULL,
                entry_key INTEGER NOT NULL,
                PRIMARY KEY (app_key, seat_id)) WITHOUT ROWID
            """),
    ]
}
