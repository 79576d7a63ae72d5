import PurchaseVerification

/// The second schema: what the second version of the rules needs.
enum SchemaVersion2 {
    static let migration = LedgerMigration(
        number: 2, title: "Rules of copies, environments, orders and refused evidence", statements: refusals)

    /// Refused evidence of restores is listed with refused claims (48 is `JournalKind.refusals`).
    private static let refusals: [LedgerMigration.Statement] = [
        .definition("CREATE INDEX journal_refusals ON journal (app_key, at, entry_key) WHERE kind = 48")
    ]
}
