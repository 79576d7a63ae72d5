/// The fifth schema: merges whose rows follow in pieces, forwarded notifications, news about customers and apps, and
/// seats.
enum SchemaVersion5 {
    static let migration = LedgerMigration(
        number: 5, title: "Merges in pieces, forwarded notifications, news about customers and apps, and seats",
        statements: SchemaVersion5Moves.statements + SchemaVersion5Forwarding.statements
            + SchemaVersion5News.statements + SchemaVersion5Seats.statements)
}
