/// The fifth schema: merges whose rows follow in pieces, and forwarded notifications.
enum SchemaVersion5 {
    static let migration = LedgerMigration(
        number: 5, title: "Merges in pieces, and forwarded notifications",
        statements: SchemaVersion5Moves.statements + SchemaVersion5Forwarding.statements)
}
