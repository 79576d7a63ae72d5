import PurchaseVerification

/// Reads the journal in the order of a replay: the entries of the log by leaf, then the others by number.
///
/// The numbers of the rows prove nothing: no code and no leaf covers them. Leaves are covered by checkpoints.
struct ReplayEntries {
    /// The position of an entry.
    struct Position: Sendable {
        /// The last leaf; -1 before the first one.
        var leaf: Int64 = -1
        /// The number of the last entry without a leaf; `nil` while the log is read.
        var number: Int64?
        /// The number after which entries without a leaf are looked for.
        var lastFolded: Int64 = .min
    }

    /// An entry with its position.
    struct Entry {
        let row: JournalRow
        let position: Position
    }

    let connection: any LedgerConnection

    /// The entries after a position; empty after the last one.
    func page(after position: Position, limit: Int) throws(LedgerStorageError) -> [Entry] {
        if position.number == nil {
            let page = try leaves(after: position, limit: limit)
            if !page.isEmpty { return page }
        }
        // An entry that was sealed since the log was read has a higher leaf, and is read here.
        let rows = try JournalRow.all(
            """
            WHERE entry_key > ?1 AND NOT EXISTS (
                SELECT 1 FROM log_entries WHERE log_entries.entry_key = journal.entry_key
                AND log_entries.leaf BETWEEN 0 AND ?2)
            ORDER BY entry_key LIMIT ?3
            """, [.integer(position.number ?? position.lastFolded), .integer(position.leaf), .integer(Int64(limit))],
            connection)
        return rows.map { Entry(row: $0, position: Position(leaf: position.leaf, number: $0.key)) }
    }

    private func leaves(after position: Position, limit: Int) throws(LedgerStorageError) -> [Entry] {
        var rows: [Entry] = []
        for row in try connection.rows(Self.query, [.integer(position.leaf), .integer(Int64(limit))]) {
            var reader = row.reader
            let leaf = try reader.integer()
            var next = position
            next.leaf = leaf
            rows.append(Entry(row: try JournalRow(&reader), position: next))
        }
        return rows
    }

    private static let query: String = {
        let columns = JournalRow.table.columns.replacing(", ", with: ", journal.")
        return """
            SELECT log_entries.leaf, journal.\(columns) FROM log_entries
            JOIN journal ON journal.entry_key = log_entries.entry_key
            WHERE log_entries.leaf > ?1 ORDER BY log_entries.leaf LIMIT ?2
            """
    }()
}
