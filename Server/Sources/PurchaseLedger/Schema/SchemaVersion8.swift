/// The eighth schema: the answers to refund requests, extensions, and signed offers.
enum SchemaVersion8 {
    static let migration = LedgerMigration(
        number: 8, title: "Answers to refund requests, extensions of subscriptions, and signed offers",
        statements: SchemaVersion8Refunds.statements + SchemaVersion8Extensions.statements
            + SchemaVersion8Offers.statements)
}
