/// The part of the eighth schema about refund requests.
enum SchemaVersion8Refunds {
    static let statements: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE consumption_consents (
                customer_key INTEGER NOT NULL,
                is_given INTEGER NOT NULL,
                stated_at INTEGER NOT NULL,
                entry_key INTEGER NOT NULL,
                PRIMARY KEY (customer_key)) WITHOUT ROWID
            """),
        .definition(
            """
            CREATE TABLE consumption_requests (
                entry_key INTEGER NOT NULL,
                app_key INTEGER NOT NULL,
                transaction_key INTEGER NOT NULL,
                asked_at INTEGER NOT NULL,
                deadline INTEGER NOT NULL,
                reason TEXT,
                state TEXT NOT NULL,
                answer_entry INTEGER,
                closed_by TEXT,
                closed_at INTEGER,
                next_at INTEGER NOT NULL,
                attempts INTEGER NOT NULL,
                leased_until INTEGER,
                answer BLOB,
                PRIMARY KEY (entry_key)) WITHOUT ROWID
            """),
        .definition(
            "CREATE INDEX consumption_requests_by_transaction ON consumption_requests (transaction_key, asked_at, entry_key)"
        ),
        .definition("CREATE INDEX consumption_requests_by_app ON consumption_requests (app_key, entry_key)"),
        .definition(
            "CREATE INDEX consumption_requests_open ON consumption_requests (deadline, entry_key) WHERE state = 'open'"),
    ]
}
