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
            """, [.integer(position.number ?? .min), .integer(position.leaf), .integer(Int64(limit))], connection)
        return rows.map { Entry(row: $0, position: Position(leaf: position.leaf, number: $0.key)) }
    }

    private func leaves(after position: Position, limit: Int) throws(LedgerStorageError) -> [Entry] {
        try read(after: position.leaf, limit: limit).map { Entry(row: $0.row, position: Position(leaf: $0.leaf)) }
    }

    /// The leaves after a number, in their order.
    func read(
        after leaf: Int64, limit: Int
    ) throws(LedgerStorageError) -> [(leaf: Int64, row: JournalRow)] {
        var rows: [(leaf: Int64, row: JournalRow)] = []
        for row in try connection.rows(Self.query, [.integer(leaf), .integer(Int64(limit))]) {
            var reader = row.reader
            rows.append((try reader.integer(), try JournalRow(&reader)))
        }
        return rows
    }

    /// The entries after a number that have no leaf yet.
    static func pending(
        after key: Int64, limit: Int64, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [JournalRow] {
        try JournalRow.all(
            """
            WHERE entry_key > ?1 ORDER BY entry_key LIMIT ?2
            """, [.integer(max(key, try LogStateTable(connection: connection).row().sealedUpTo)), .integer(limit)],
            connection)
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
