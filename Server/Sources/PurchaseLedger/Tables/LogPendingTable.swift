import PurchaseVerification

/// The journal entries that are not in the Merkle log yet.
struct LogPendingTable {
    private static let insertion = LedgerInsertion("log_pending", ["entry_key"])

    let connection: any LedgerConnection

    func insert(_ entryKey: Int64) throws(LedgerStorageError) {
        try connection.insert(Self.insertion, [.integer(entryKey)])
    }

    func remove(_ entryKey: Int64) throws(LedgerStorageError) {
        try connection.send(to: "log_pending", "DELETE FROM log_pending WHERE entry_key = ?1", [.integer(entryKey)])
    }

    /// The entries after a key, in the order of the journal.
    func entries(after key: Int64, limit: Int64) throws(LedgerStorageError) -> [PendingEntry] {
        let rows = try connection.rows(
            """
            SELECT log_pending.entry_key, journal.leaf, journal.entry_id, journal.mac, journal.salt, journal.details,
            log_entries.leaf FROM log_pending
            LEFT JOIN journal ON journal.entry_key = log_pending.entry_key
            LEFT JOIN log_entries ON log_entries.entry_key = log_pending.entry_key
            WHERE log_pending.entry_key > ?1 ORDER BY log_pending.entry_key LIMIT ?2
            """, [.integer(key), .integer(limit)])
        var entries: [PendingEntry] = []
        for row in rows {
            var reader = row.reader
            entries.append(
                PendingEntry(
                    entryKey: try reader.integer(), leaf: try reader.blobIfAny(),
                    entryID: try reader.blobIfAny(), mac: try reader.blobIfAny(),
                    salt: try reader.blobIfAny(), details: try reader.blobIfAny().map(JSONShorthand.json),
                    sealed: try reader.optionalInteger()))
        }
        return entries
    }

    /// The number of entries up to a key.
    func count(upTo key: Int64) throws(LedgerStorageError) -> Int64 {
        let rows = try connection.rows(
            "SELECT count(*) FROM log_pending WHERE entry_key <= ?1", [.integer(key)], of: ["log_pending"])
        guard var reader = rows.first?.reader else { return 0 }
        return try reader.integer()
    }

    func count() throws(LedgerStorageError) -> Int64 {
        guard
            var reader = try connection.rows("SELECT count(*) FROM log_pending", [], of: ["log_pending"]).first?.reader
        else { return 0 }
        return try reader.integer()
    }

    func summary() throws(LedgerStorageError) -> PendingEntries {
        let rows = try connection.rows(
            """
            SELECT journal.at FROM log_pending JOIN journal ON journal.entry_key = log_pending.entry_key
            ORDER BY log_pending.entry_key LIMIT 1
            """, [])
        var oldest: Timestamp?
        if var reader = rows.first?.reader { oldest = try reader.time() }
        return PendingEntries(count: Int(try count()), oldest: oldest)
    }
}
