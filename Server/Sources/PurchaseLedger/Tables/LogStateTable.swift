import PurchaseVerification

/// The one row with size and root of the Merkle log.
struct LogStateTable {
    let connection: any LedgerConnection

    func row() throws(LedgerStorageError) -> LogStateRow {
        try Self.row(try connection.rows("SELECT size, root FROM log_state WHERE log_key = 1", [], of: ["log_state"]))
    }

    /// Locks the row until the end of the transaction and reads it. A second sealer waits here and then reads what the
    /// first one wrote, even on engines that isolate transactions by `READ COMMITTED`.
    func locked() throws(LedgerStorageError) -> LogStateRow {
        try Self.row(
            try connection.changedRows("UPDATE log_state SET size = size WHERE log_key = 1 RETURNING size, root", []))
    }

    func update(_ row: LogStateRow) throws(LedgerStorageError) {
        try connection.send(
            to: "log_state",
            "UPDATE log_state SET size = ?1, root = ?2 WHERE log_key = 1", [.integer(row.size), .blob(row.root)])
    }

    /// The id of the key of entries; `nil` before the first entry was written with one.
    func entryKeyID() throws(LedgerStorageError) -> String? {
        let rows = try connection.rows("SELECT entry_key_id FROM log_state WHERE log_key = 1", [], of: ["log_state"])
        guard var reader = rows.first?.reader else {
            throw LedgerStorageError(.corrupt, "log_state has no row")
        }
        return try reader.optionalText()
    }

    /// Stores the id of the key of entries, unless one is stored.
    func setEntryKeyID(_ id: String) throws(LedgerStorageError) {
        try connection.execute(
            "UPDATE log_state SET entry_key_id = ?1 WHERE log_key = 1 AND entry_key_id IS NULL", [.text(id)])
    }

    private static func row(_ rows: [LedgerRow]) throws(LedgerStorageError) -> LogStateRow {
        guard var reader = rows.first?.reader else {
            throw LedgerStorageError(.corrupt, "log_state has no row")
        }
        let row = LogStateRow(size: try reader.integer(), root: try reader.blob())
        guard row.size >= 0 else { throw LedgerStorageError(.corrupt, "log_state has the size \(row.size)") }
        return row
    }
}
