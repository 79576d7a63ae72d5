import PurchaseVerification

/// The first schema: the journal, the tables derived from it, and the settings in force.
///
/// Times are milliseconds since 1970. Keys inside the database are integers; ids that leave it have 16 bytes, hashes 32
/// bytes.
enum SchemaVersion1 {
    static let migration = LedgerMigration(
        number: 1, title: "The journal, facts, owners, entitlements, orders and keys",
        statements: SchemaVersion1Journal.statements + SchemaVersion1Log.statements + SchemaVersion1Customers.statements
            + SchemaVersion1Purchases.statements
            + SchemaVersion1Access.statements + SchemaVersion1Webhooks.statements + SchemaVersion1AppStore.statements)
}
