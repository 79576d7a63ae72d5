import PurchaseLedger

/// Many consumables of one customer: copies of the rows of the only purchase, because claims would take too long. The
/// journal does not have them, so no audit is clean afterwards.
enum CopiedPurchases {
    /// Makes rows until there are as many purchases.
    static func fill(_ database: any LedgerDatabase, count: Int) async throws {
        let numbers = """
            WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < \(count - 1))
            """
        let statements = [
            """
            \(numbers) INSERT INTO originals (original_key, environment, original_id, xcode_second, app_key)
            SELECT original_key + i, environment, 'copy-' || i, xcode_second, app_key FROM originals CROSS JOIN n
            """,
            """
            \(numbers) INSERT INTO transactions (transaction_key, original_key, environment, transaction_id, xcode_second,
            product_key, facts, evidence_key, known_at, kind, duration, token, owner_key, owner_reason)
            SELECT transaction_key + i, original_key + i, environment, 'copy-' || i, xcode_second, product_key, facts,
            evidence_key, known_at, kind, duration, token, owner_key, owner_reason FROM transactions CROSS JOIN n
            """,
            """
            \(numbers) INSERT INTO ownership_acts (original_key, entry_key, transaction_key, customer_key, former_key, kind)
            SELECT original_key + i, entry_key, transaction_key + i, customer_key, former_key, kind
            FROM ownership_acts CROSS JOIN n
            """,
            """
            \(numbers) INSERT INTO lots (ground, customer_key, product_key, environment, quantity, withdrawn, taken,
            available, purchased_at, reason)
            SELECT ground + i, customer_key, product_key, environment, quantity, withdrawn, taken, available,
            purchased_at, reason FROM lots CROSS JOIN n
            """,
            "UPDATE entitlements SET balance = \(count)",
        ]
        try await database.write { connection in
            for sql in statements { try connection.execute(sql, []) }
            for sql in database.dialect.renumbering { try connection.execute(sql, []) }
        }
    }
}
