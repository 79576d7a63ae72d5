/// The sixth schema: who is known by a download of the app, and the purchases that nobody owns.
enum SchemaVersion6 {
    static let migration = LedgerMigration(
        number: 6, title: "Members known by a download of the app, and purchases without an owner",
        statements: SchemaVersion6Holders.statements)
}
