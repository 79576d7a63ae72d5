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

/// A leaf of the Merkle log with its journal entry.
struct LogEntryRow: Sendable {
    let leafNumber: Int64
    let entryKey: Int64
    /// `nil` if the journal has no such entry, or its value is not bytes.
    let leaf: [UInt8]?
    /// The unique id of the entry's row, which must equal the one in its leaf.
    let entryID: [UInt8]?
    let mac: [UInt8]?
}

/// The full tiles of the Merkle log, each stored once.
struct LogTilesTable {
    private static let insertion = LedgerInsertion("log_tiles", ["tile_key", "root", "hashes"])

    let connection: any LedgerConnection

    /// The key of a tile: the level in the highest byte, and its position in the level below.
    static func key(level: Int, number: Int64) -> Int64 { Int64(level) << 56 | number }

    func insert(level: Int, number: Int64, root: [UInt8], hashes: [UInt8]) throws(LedgerStorageError) {
        try connection.insert(
            Self.insertion,
            [.integer(Self.key(level: level, number: number)), .blob(root), .blob(hashes)])
    }

    /// The hashes of a tile.
    func hashes(level: Int, number: Int64) throws(LedgerStorageError) -> [UInt8]? {
        let rows = try connection.rows(
            "SELECT hashes FROM log_tiles WHERE tile_key = ?1", [.integer(Self.key(level: level, number: number))],
            of: ["log_tiles"])
        guard var reader = rows.first?.reader else { return nil }
        return try reader.blob()
    }

    /// The keys in a range, up to a limit.
    func keys(in range: ClosedRange<Int64>, limit: Int64) throws(LedgerStorageError) -> [Int64] {
        try connection.integers(
            "SELECT tile_key FROM log_tiles WHERE tile_key BETWEEN ?1 AND ?2 ORDER BY tile_key LIMIT ?3",
            [.integer(range.lowerBound), .integer(range.upperBound), .integer(limit)], of: ["log_tiles"])
    }

    /// The roots of adjacent tiles of a level.
    func roots(level: Int, from number: Int64, count: Int) throws(LedgerStorageError) -> [[UInt8]] {
        let first = Self.key(level: level, number: number)
        var roots: [[UInt8]] = []
        for row in try connection.rows(
            "SELECT root FROM log_tiles WHERE tile_key >= ?1 AND tile_key < ?2 ORDER BY tile_key",
            [.integer(first), .integer(first + Int64(count))], of: ["log_tiles"])
        {
            var reader = row.reader
            roots.append(try reader.blob())
        }
        return roots
    }
}

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
