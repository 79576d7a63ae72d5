import PurchaseVerification

/// The journal entry of each leaf of the Merkle log.
struct LogEntriesTable {
    private static let insertion = LedgerInsertion("log_entries", ["leaf", "entry_key"])

    let connection: any LedgerConnection

    func insert(leaf: Int64, entry: Int64) throws(LedgerStorageError) {
        try connection.insert(Self.insertion, [.integer(leaf), .integer(entry)])
    }

    /// The leaves from a number on, in order.
    func rows(from leaf: Int64, limit: Int64) throws(LedgerStorageError) -> [LogEntryRow] {
        let rows = try connection.rows(
            """
            SELECT log_entries.leaf, log_entries.entry_key, journal.leaf, journal.entry_id, journal.mac FROM log_entries
            LEFT JOIN journal ON journal.entry_key = log_entries.entry_key
            WHERE log_entries.leaf >= ?1 ORDER BY log_entries.leaf LIMIT ?2
            """, [.integer(leaf), .integer(limit)])
        var entries: [LogEntryRow] = []
        for row in rows {
            var reader = row.reader
            entries.append(
                LogEntryRow(
                    leafNumber: try reader.integer(), entryKey: try reader.integer(), leaf: try reader.blobIfAny(),
                    entryID: try reader.blobIfAny(), mac: try reader.blobIfAny()))
        }
        return entries
    }

    /// The leaf of an entry; `nil` if it is not sealed.
    func leaf(of entry: Int64) throws(LedgerStorageError) -> Int64? {
        let rows = try connection.rows(
            "SELECT leaf FROM log_entries WHERE entry_key = ?1", [.integer(entry)], of: ["log_entries"])
        guard var reader = rows.first?.reader else { return nil }
        return try reader.integer()
    }

    /// The entries after a key that have no leaf, among the next entries of the journal that were examined
    /// (`LogStateRow.sealedUpTo`).
    ///
    /// - Returns: the keys of such entries, and the last key that was read; `nil` after the last entry.
    func forgotten(after key: Int64, limit: Int64) throws(LedgerStorageError) -> (entries: [Int64], last: Int64?) {
        let rows = try connection.rows(
            """
            SELECT journal.entry_key, log_entries.leaf FROM journal
            LEFT JOIN log_entries ON log_entries.entry_key = journal.entry_key
            WHERE journal.entry_key > ?1 AND journal.entry_key <= (SELECT sealed_up_to FROM log_state)
            ORDER BY journal.entry_key LIMIT ?2
            """, [.integer(key), .integer(limit)])
        var forgotten: [Int64] = []
        var last: Int64?
        for row in rows {
            var reader = row.reader
            let entry = try reader.integer()
            if try reader.optionalInteger() == nil { forgotten.append(entry) }
            last = entry
        }
        return (forgotten, last)
    }
}
