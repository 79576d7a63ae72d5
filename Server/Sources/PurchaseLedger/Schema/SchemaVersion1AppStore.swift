/// The claims that are checked with the App Store.
enum SchemaVersion1AppStore {
    /// A row is written with its claim and stays. While `next_at` has a value, the App Store still has to be asked;
    /// later `answer_entry` is its answer, and `decision_entry` the outcome of a claim that waited for it.
    static let statements: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE app_store_claims (
                entry_key INTEGER NOT NULL,
                app_key INTEGER NOT NULL,
                customer_key INTEGER NOT NULL,
                evidence_key INTEGER NOT NULL,
                waits INTEGER NOT NULL,
                received_at INTEGER NOT NULL,
                attempts INTEGER NOT NULL,
                next_at INTEGER,
                leased_until INTEGER,
                answer_entry INTEGER,
                decision_entry INTEGER,
                PRIMARY KEY (entry_key)) WITHOUT ROWID
            """),
        .definition(
            "CREATE INDEX app_store_claims_due ON app_store_claims (next_at, entry_key) WHERE next_at IS NOT NULL"),
        // An equal claim finds the one that waits, or its decision.
        .definition("CREATE INDEX app_store_claims_by_evidence ON app_store_claims (evidence_key, customer_key)"),
        .definition("CREATE INDEX app_store_claims_by_customer ON app_store_claims (customer_key)"),
    ]
}
