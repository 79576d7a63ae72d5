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

    let connection: any LedgerConnection

    /// The entries after a position, each with its own position; empty after the last one.
    func page(
        after position: Position, limit: Int64
    ) throws(LedgerStorageError) -> [(row: JournalRow, position: Position)] {
        if position.number == nil {
            let page = try leaves(after: position.leaf, limit: limit)
            if !page.isEmpty { return page }
        }
        // An entry that was sealed since the log was read has a higher leaf, and is read here.
        return try JournalRow.all(
            """
            WHERE entry_key > ?1 AND NOT EXISTS (
                SELECT 1 FROM log_entries WHERE log_entries.entry_key = journal.entry_key
                AND log_entries.leaf BETWEEN 0 AND ?2)
            ORDER BY entry_key LIMIT ?3
            """, [.integer(position.number ?? .min), .integer(position.leaf), .integer(limit)], connection
        ).map { ($0, Position(leaf: position.leaf, number: $0.key)) }
    }

    private func leaves(
        after leaf: Int64, limit: Int64
    ) throws(LedgerStorageError) -> [(row: JournalRow, position: Position)] {
        var page: [(row: JournalRow, position: Position)] = []
        for row in try connection.rows(Self.query, [.integer(leaf), .integer(limit)]) {
            var reader = row.reader
            let leaf = try reader.integer()
            page.append((try JournalRow(&reader), Position(leaf: leaf)))
        }
        return page
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
