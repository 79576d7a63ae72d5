import PurchaseVerification

/// The second schema: what the second version of the rules needs.
enum SchemaVersion2 {
    static let migration = LedgerMigration(
        number: 2, title: "Rules of copies, environments, orders and refused evidence", statements: namesOfActs)

    /// The events of operators' acts under the names of their journal entries.
    private static let namesOfActs: [LedgerMigration.Statement] = [
        .sql(
            """
            UPDATE events SET type = CASE type WHEN 'hand_granted' THEN 'grant_added'
            WHEN 'hand_revoked' THEN 'revocation_added' ELSE 'act_lifted' END
            WHERE type IN ('hand_granted', 'hand_revoked', 'hand_lifted')
            """)
    ]
}
