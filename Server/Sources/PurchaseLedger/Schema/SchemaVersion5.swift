import PurchaseVerification

/// The fifth schema: a merge of customers whose rows follow in pieces.
enum SchemaVersion5 {
    static let migration = LedgerMigration(
        number: 5, title: "A merge whose rows follow in pieces", statements: moves)
}
