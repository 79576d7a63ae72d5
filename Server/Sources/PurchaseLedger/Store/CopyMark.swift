/// A note in a database that stops servers from using it, because its ledger is being copied or was copied
/// (`LedgerCopy`).
///
/// It is a row of `schema_migrations` with a number above those of all migrations. Every release checks the greatest
/// number when it starts and before each transaction that writes, so the commit of the note stops all servers of the
/// database.
package struct CopyMark: Sendable, Equatable {
    /// The role of the database in the copy. The raw value is the row's number.
    package enum Role: Int64, Sendable, CaseIterable {
        /// The target, before everything was copied and compared.
        case target = 0x4000_0000_0000_0001
        /// The source, while it is copied.
        case source
        /// The source, after the target was opened for servers.
        case moved
    }

    package let role: Role
    /// The random id that a source and its unfinished target share.
    package let id: String

    /// The note of a database; `nil` if it has none.
    static func found(_ connection: any LedgerConnection) throws(LedgerStorageError) -> CopyMark? {
        let rows = try connection.rows(
            "SELECT number, title FROM schema_migrations WHERE number >= ?1 ORDER BY number DESC",
            [.integer(Role.target.rawValue)])
        guard var reader = rows.first?.reader else { return nil }
        guard let role = Role(rawValue: try reader.integer()) else { return nil }
        return CopyMark(role: role, id: try reader.text())
    }

    /// Writes the note and replaces any other.
    func write(_ connection: any LedgerConnection, now: Int64) throws(LedgerStorageError) {
        try Self.remove(connection)
        try connection.execute(
            "INSERT INTO schema_migrations (number, title, applied_at) VALUES (?1, ?2, ?3)",
            [.integer(role.rawValue), .text(id), .integer(now)])
    }

    /// Removes the note, so that servers use the database.
    static func remove(_ connection: any LedgerConnection) throws(LedgerStorageError) {
        try connection.execute(
            "DELETE FROM schema_migrations WHERE number >= ?1", [.integer(Role.target.rawValue)])
    }

    /// The error of a server that finds this number instead of its schema's; `nil` if it is not a note.
    static func refusal(of number: Int64) -> LedgerStorageError? {
        switch Role(rawValue: number) {
        case .target:
            LedgerStorageError(.copyUnfinished, "the database is the target of an unfinished copy")
        case .source:
            LedgerStorageError(.moved, "the ledger is being copied to another database")
        case .moved:
            LedgerStorageError(.moved, "the ledger was copied to another database")
        case nil: nil
        }
    }
}
