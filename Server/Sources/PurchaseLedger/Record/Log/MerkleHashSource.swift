/// Reads the hashes of a Merkle tree in tiles.
package protocol MerkleHashSource {
    /// Adjacent hashes in one tile. Each of them covers 256^level leaves of the tree.
    ///
    /// - Parameters:
    ///   - level: the level of the tile.
    ///   - first: the position of the first hash in its level.
    ///   - count: the number of hashes.
    func hashes(level: Int, from first: Int64, count: Int) throws(LedgerStorageError) -> [MerkleHash]
}
