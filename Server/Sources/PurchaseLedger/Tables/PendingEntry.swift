import PurchaseVerification

/// A journal entry that is not in the Merkle log yet, with the data needed to seal it.
struct PendingEntry: Sendable {
    let entryKey: Int64
    /// `nil` if its value is not bytes: one wrong row must not stop the sealer.
    let leaf: [UInt8]?
    /// The unique id of the entry's row, which must equal the one in its leaf.
    let entryID: [UInt8]?
    let mac: [UInt8]?
    let salt: [UInt8]?
    let details: [UInt8]?
    /// Its leaf number, if the log has it already.
    let sealed: Int64?

    /// The entries after a number and not above another, in the order of the journal.
    static func all(
        after key: Int64, upTo end: Int64 = .max, limit: Int64, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [PendingEntry] {
        let rows = try connection.rows(
            """
            SELECT journal.entry_key, journal.leaf, journal.entry_id, journal.mac, journal.salt, journal.details,
            log_entries.leaf FROM journal LEFT JOIN log_entries ON log_entries.entry_key = journal.entry_key
            WHERE journal.entry_key > ?1 AND journal.entry_key <= ?2 ORDER BY journal.entry_key LIMIT ?3
            """, [.integer(key), .integer(end), .integer(limit)])
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
}
