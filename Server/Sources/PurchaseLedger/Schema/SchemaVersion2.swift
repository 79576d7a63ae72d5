import PurchaseVerification

/// The second schema: what the second version of the rules needs.
enum SchemaVersion2 {
    static let migration = LedgerMigration(
        number: 2, title: "Rules of copies, environments, orders and refused evidence", statements: passes)

    /// A chain of passes has a ground of its own, so that a product can also have a balance.
    private static let passes: [LedgerMigration.Statement] = [
        .sql("UPDATE entitlements SET ground = -9223372036854775807 WHERE ground = 0 AND kind = 'non_renewing'")
    ]
}
