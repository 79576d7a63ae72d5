/// The fifth schema: what the fourth version of the rules needs.
enum SchemaVersion5 {
    static let migration = LedgerMigration(
        number: 5, title: "News about customers and apps", statements: SchemaVersion5News.statements)
}
