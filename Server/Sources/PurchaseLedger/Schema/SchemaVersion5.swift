import PurchaseVerification

/// The fifth schema.
enum SchemaVersion5 {
    static let migration = LedgerMigration(
        number: 5, title: "Forwarded notifications", statements: SchemaVersion5Forwarding.statements)
}
