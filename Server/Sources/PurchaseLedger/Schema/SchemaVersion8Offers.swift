/// The part of the eighth schema about signed offers.
enum SchemaVersion8Offers {
    static let statements: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE offer_signatures (
                entry_key INTEGER NOT NULL,
                customer_key INTEGER NOT NULL,
                offer_id TEXT NOT NULL,
                kind TEXT NOT NULL,
                signed_at INTEGER NOT NULL,
                PRIMARY KEY (entry_key)) WITHOUT ROWID
            """),
        .definition(
            "CREATE INDEX offer_signatures_by_customer ON offer_signatures (customer_key, offer_id, signed_at, entry_key)"
        ),
    ]
}
