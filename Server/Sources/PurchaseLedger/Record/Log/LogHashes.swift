/// The hashes of the stored log: full tiles from their table, tails computed from the entries.
final class LogHashes: MerkleHashSource {
    private let connection: any LedgerConnection
    /// The number of stored leaves, which determines the full tiles.
    private let size: Int64
    /// The tiles that were read: a proof needs several hashes of the same tiles.
    private var tiles: [Int64: [MerkleHash]] = [:]

    init(_ connection: any LedgerConnection, size: Int64) {
        self.connection = connection
        self.size = size
    }

    func hashes(level: Int, from first: Int64, count: Int) throws(LedgerStorageError) -> [MerkleHash] {
        let number = first / MerkleTile.width
        let hashes: [MerkleHash]
        if MerkleTile.isFull(level: level, number: number, size: size) {
            hashes = Array(
                try tile(level: level, number: number).dropFirst(Int(first % MerkleTile.width)).prefix(count))
        } else if level == 0 {
            hashes = try leaves(from: first, count: count)
        } else {
            hashes = try LogTilesTable(connection: connection).roots(level: level - 1, from: first, count: count)
                .compactMap { MerkleHash($0) }
        }
        guard hashes.count == count else {
            throw LedgerStorageError(
                .corrupt, "the log lacks hashes of level \(level) from \(first); run assay audit verify")
        }
        return hashes
    }

    private func tile(level: Int, number: Int64) throws(LedgerStorageError) -> [MerkleHash] {
        let key = LogTilesTable.key(level: level, number: number)
        if let tile = tiles[key] { return tile }
        let stored = try LogTilesTable(connection: connection).hashes(level: level, number: number)
        let tile = stored.flatMap { [MerkleHash](concatenated: $0) } ?? []
        tiles[key] = tile
        return tile
    }

    /// The hashes of leaves, up to the first gap.
    private func leaves(from first: Int64, count: Int) throws(LedgerStorageError) -> [MerkleHash] {
        var hashes: [MerkleHash] = []
        for row in try LogEntriesTable(connection: connection).rows(from: first, limit: Int64(count)) {
            guard row.leafNumber == first + Int64(hashes.count), let leaf = row.leaf else { break }
            hashes.append(.leaf(leaf))
        }
        return hashes
    }
}
