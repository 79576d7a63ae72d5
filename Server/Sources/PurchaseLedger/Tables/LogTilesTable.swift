import PurchaseVerification

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
        var keys: [Int64] = []
        for row in try connection.rows(
            "SELECT tile_key FROM log_tiles WHERE tile_key BETWEEN ?1 AND ?2 ORDER BY tile_key LIMIT ?3",
            [.integer(range.lowerBound), .integer(range.upperBound), .integer(limit)], of: ["log_tiles"])
        {
            var reader = row.reader
            keys.append(try reader.integer())
        }
        return keys
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
