/// A merge whose rows follow in pieces.
enum SchemaVersion5Moves {
    /// The merge whose rows still move; at most one. The rows that are left are those of the merged customer, so the
    /// queue is the tables themselves.
    static let statements: [LedgerMigration.Statement] = [
        .definition(
            """
            CREATE TABLE customer_moves (
                target_key INTEGER NOT NULL,
                customer_key INTEGER NOT NULL,
                entry_key INTEGER NOT NULL,
                PRIMARY KEY (target_key, customer_key)) WITHOUT ROWID
            """),
        // An order is read with the customer to whom it moves.
        .definition("CREATE UNIQUE INDEX customer_moves_by_customer ON customer_moves (customer_key, target_key)"),
    ]
}
