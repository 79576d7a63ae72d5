import PurchaseVerification

/// The fifth schema: a merge of customers whose rows follow in pieces.
enum SchemaVersion5 {
    static let migration = LedgerMigration(
        number: 5, title: "A merge whose rows follow in pieces", statements: moves)

    /// The merge whose rows still move; at most one. The rows that are left are those of the merged customer, so the queue is the
    /// tables themselves.
    private static let moves: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE customer_moves (
                target_key INTEGER NOT NULL,
                customer_key INTEGER NOT NULL,
                entry_key INTEGER NOT NULL,
                PRIMARY KEY (target_key, customer_key)) WITHOUT ROWID
            """)
    ]
}
