/// A note in a database that PostgreSQL numbered its first entries, whose numbers need not grow with the leaves of the
/// log.
///
/// It is a row of `schema_migrations` with the number 0, which no migration has. Nothing protects it. Somebody who adds
/// it can only exchange the numbers of entries without a lock in common, which changes nothing (`EntryOrder`).
enum NumberedElsewhere {
    /// Whether every entry was numbered by an engine with one writer.
    static func isStrict(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Bool {
        try connection.rows("SELECT 1 FROM schema_migrations WHERE number = 0", []).isEmpty
    }

    /// Writes the note.
    static func write(_ connection: any LedgerConnection, now: Int64) throws(LedgerStorageError) {
        try connection.execute(
            """
            INSERT INTO schema_migrations (number, title, applied_at) VALUES (0, 'Entries numbered by PostgreSQL', ?1)
            ON CONFLICT (number) DO NOTHING
            """, [.integer(now)])
    }
}
