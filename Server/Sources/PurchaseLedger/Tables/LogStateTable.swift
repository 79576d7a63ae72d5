import PurchaseVerification

/// How far the Merkle log goes.
struct LogStateRow: Sendable {
    var size: Int64
    var root: [UInt8]
    /// The number of the last entry that was examined. Every entry up to it has a leaf, or was refused for good.
    var sealedUpTo: Int64
    /// How many entries up to `sealedUpTo` were refused: no server with the key wrote them.
    var refused: Int64
}

/// The one row of the Merkle log's state.
struct LogStateTable {
    private static let columns = "size, root, sealed_up_to, refused"

    let connection: any LedgerConnection

    func row() throws(LedgerStorageError) -> LogStateRow {
        try Self.row(
            try connection.rows("SELECT \(Self.columns) FROM log_state WHERE log_key = 1", [], of: ["log_state"]))
    }

    /// Locks the row until the end of the transaction and reads it. A second sealer waits here and then reads what the
    /// first one wrote, even on engines that isolate transactions by `READ COMMITTED`.
    func locked() throws(LedgerStorageError) -> LogStateRow {
        try Self.row(
            try connection.changedRows(
                "UPDATE log_state SET size = size WHERE log_key = 1 RETURNING \(Self.columns)", []))
    }

    func update(_ row: LogStateRow) throws(LedgerStorageError) {
        try connection.send(
            to: "log_state",
            "UPDATE log_state SET size = ?1, root = ?2, sealed_up_to = ?3, refused = ?4 WHERE log_key = 1",
            [.integer(row.size), .blob(row.root), .integer(row.sealedUpTo), .integer(row.refused)])
    }

    /// The entries that are not sealed yet.
    func pending() throws(LedgerStorageError) -> PendingEntries {
        let state = try row()
        let rows = try connection.rows(
            """
            SELECT count(*), (SELECT at FROM journal WHERE entry_key > ?1 ORDER BY entry_key LIMIT 1) FROM journal
            WHERE entry_key > ?1
            """, [.integer(state.sealedUpTo)])
        guard var reader = rows.first?.reader else { return PendingEntries(count: 0, oldest: nil, refused: 0) }
        return PendingEntries(
            count: Int(try reader.integer()),
            oldest: try reader.optionalInteger().map { Timestamp(millisecondsSince1970: $0) },
            refused: Int(state.refused))
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
        let row = LogStateRow(
            size: try reader.integer(), root: try reader.blob(), sealedUpTo: try reader.integer(),
            refused: try reader.integer())
        guard row.size >= 0 else { throw LedgerStorageError(.corrupt, "log_state has the size \(row.size)") }
        return row
    }
}
