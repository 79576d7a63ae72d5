import PurchaseVerification

/// The second schema: what the second version of the rules needs.
enum SchemaVersion2 {
    static let migration = LedgerMigration(
        number: 2, title: "Rules of copies, environments, orders and refused evidence", statements: [])
}
