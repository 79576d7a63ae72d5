/// The fifth schema: merges whose rows follow in pieces, forwarded notifications, and news about customers and apps.
enum SchemaVersion5 {
    static let migration = LedgerMigration(
        number: 5, title: "Merges in pieces, forwarded notifications, and news about customers and apps",
        statements: SchemaVersion5Moves.statements + SchemaVersion5Forwarding.statements
            + SchemaVersion5News.statements)
}
