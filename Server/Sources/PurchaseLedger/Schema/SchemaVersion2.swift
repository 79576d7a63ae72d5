import PurchaseVerification

/// The second schema: what the second version of the rules needs.
enum SchemaVersion2 {
    /// Orders that are delivered in parts, or paid by a renewal. The index has the quantity, so that a purchase reads
    /// only the open orders of its own.
    private static let orders: [LedgerMigration.Statement] = [
        .definition("ALTER TABLE orders ADD COLUMN accepts_renewal BIGINT NOT NULL DEFAULT 0"),
        .definition("ALTER TABLE orders ADD COLUMN fulfilled_units BIGINT NOT NULL DEFAULT 0"),
        .sql("UPDATE orders SET fulfilled_units = quantity WHERE fulfilled_at IS NOT NULL"),
        .sql("DROP INDEX orders_open"),
        .definition(
            """
            CREATE INDEX orders_open ON orders (customer_key, product_key, quantity, expires_at, order_key)
            WHERE status = 'created'
            """),
    ]

    static let migration = LedgerMigration(
        number: 2, title: "Rules of copies, environments, orders and refused evidence",
        statements: orders + namesOfActs + refusals + passes + listsOfCustomers + keyUses
            + settingsNumbers)

    /// The events of operators' acts under the names of their journal entries.
    private static let namesOfActs: [LedgerMigration.Statement] = [
        .sql(
            """
            UPDATE events SET type = CASE type WHEN 'hand_granted' THEN 'grant_added'
            WHEN 'hand_revoked' THEN 'revocation_added' ELSE 'act_lifted' END
            WHERE type IN ('hand_granted', 'hand_revoked', 'hand_lifted')
            """)
    ]

    /// Refused evidence of restores is listed with refused claims (48 is `JournalKind.refusals`).
    private static let refusals: [LedgerMigration.Statement] = [
        .definition("CREATE INDEX journal_refusals ON journal (app_key, at, entry_key) WHERE kind = 48")
    ]

    /// A chain of passes has a ground of its own, so that a product can also have a balance.
    private static let passes: [LedgerMigration.Statement] = [
        .sql("UPDATE entitlements SET ground = -9223372036854775807 WHERE ground = 0 AND kind = 'non_renewing'")
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
        // Restores of several purchases: their entries refer to no transaction.
        .definition(
            """
            CREATE INDEX journal_restores ON journal (customer_key, entry_key)
            WHERE kind = 3 AND transaction_key IS NULL AND code = 'accepted'
            """),
    ]

    /// Numbers recorded settings without gaps, so that the audit compares the numbers. No row refers to them. Negative
    /// numbers first, because a new number can be the old one of another row.
    private static let settingsNumbers: [LedgerMigration.Statement] = [
        .sql(
            """
            UPDATE settings_history SET settings_key = -(SELECT count(*) FROM settings_history AS earlier
            WHERE abs(earlier.settings_key) <= abs(settings_history.settings_key))
            """),
        .sql("UPDATE settings_history SET settings_key = -settings_key"),
    ]
}
