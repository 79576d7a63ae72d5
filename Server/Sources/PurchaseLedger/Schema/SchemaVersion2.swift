import PurchaseVerification

/// The second schema: what the second version of the rules needs.
enum SchemaVersion2 {
    static let migration = LedgerMigration(
        number: 2, title: "Rules of copies, environments, orders and refused evidence", statements: settingsNumbers)

    /// Numbers recorded settings without gaps, so that the audit compares the numbers. No row refers to them. Negative numbers
    /// first, because a new number can be the old one of another row.
    private static let settingsNumbers: [LedgerMigration.Statement] = [
        .sql(
            """
            UPDATE settings_history SET settings_key = -(SELECT count(*) FROM settings_history AS earlier
            WHERE abs(earlier.settings_key) <= abs(settings_history.settings_key))
            """),
        .sql("UPDATE settings_history SET settings_key = -settings_key"),
    ]
}
