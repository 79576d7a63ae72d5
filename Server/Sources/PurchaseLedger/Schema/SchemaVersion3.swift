import PurchaseVerification

/// The third schema: what the third version of the rules needs.
enum SchemaVersion3 {
    static let migration = LedgerMigration(
        number: 3, title: "Renewal info beside each transaction", statements: renewals)

    /// Renewal info is kept for each transaction signed beside it, and once without one, and for each thing that it
    /// says about the end of a period: 0 for nothing, 1 for a retry, otherwise the end of the grace period. The rebuild
    /// under the new rules finds them.
    private static let renewals: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE renewals_beside (
                environment INTEGER NOT NULL,
                original_id TEXT NOT NULL,
                beside TEXT NOT NULL,
                concern INTEGER NOT NULL,
                facts BLOB NOT NULL,
                evidence_key INTEGER NOT NULL,
                PRIMARY KEY (environment, original_id, beside, concern)) WITHOUT ROWID
            """),
        .sql(
            """
            INSERT INTO renewals_beside (environment, original_id, beside, concern, facts, evidence_key)
            SELECT environment, original_id, '', 0, facts, evidence_key FROM renewals
            """),
        .sql("DROP TABLE renewals"),
        .sql("ALTER TABLE renewals_beside RENAME TO renewals"),
    ]
}
