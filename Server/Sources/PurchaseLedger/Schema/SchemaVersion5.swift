import PurchaseVerification

/// The fifth schema: seats of subscriptions.
enum SchemaVersion5 {
    static let migration = LedgerMigration(number: 5, title: "Seats of subscriptions", statements: seats)
}
