import PurchaseVerification

/// The second schema: what the second version of the rules needs.
enum SchemaVersion2 {
    static let migration = LedgerMigration(
        number: 2, title: "Rules of copies, environments, orders and refused evidence",
        statements: namesOfActs + listsOfCustomers + keyUses)

    /// The events of operators' acts under the names of their journal entries.
    private static let namesOfActs: [LedgerMigration.Statement] = [
        .sql(
            """
            UPDATE events SET type = CASE type WHEN 'hand_granted' THEN 'grant_added'
            WHEN 'hand_revoked' THEN 'revocation_added' ELSE 'act_lifted' END
            WHERE type IN ('hand_granted', 'hand_revoked', 'hand_lifted')
            """)
    ]

    /// When each key was last used, about once a minute. No journal entry states it.
    private static let keyUses: [LedgerMigration.Statement] = [
        .definition("CREATE TABLE key_uses (key_id TEXT PRIMARY KEY, used_at INTEGER NOT NULL)")
    ]

    /// The events of a customer, and the customers who were merged into one. Both lists are read by support staff.
    private static let listsOfCustomers: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE INDEX events_by_customer ON events (customer_key, event_key) WHERE customer_key IS NOT NULL
            """),
        // Answers that do not confirm a purchase are rare.
        .definition(
            """
            CREATE INDEX journal_not_confirmed ON journal (app_key, code, at, entry_key) WHERE kind = 2 AND code <> 'accepted'
            """),
        .definition("CREATE INDEX customers_by_merge ON customers (merged_into) WHERE merged_into IS NOT NULL"),
    ]
}
