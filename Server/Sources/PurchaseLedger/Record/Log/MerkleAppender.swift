/// The right edge of a growing Merkle tree: at each level, the hashes that do not fill a tile yet. It needs the memory
/// of eight tiles for a tree of any size.
package struct MerkleAppender: Sendable {
    /// The number of leaves.
    package private(set) var size: Int64 = 0
    /// The hashes of each level's last tile, fewer than 256.
    private var tails: [[MerkleHash]] = Array(repeating: [], count: MerkleTile.levels)

    /// An empty tree.
    package init() {}

    /// The edge of an existing tree.
    package init(size: Int64, source: any MerkleHashSource) throws(LedgerStorageError) {
        self.size = size
        for level in 0..<MerkleTile.levels {
            let hashes = size >> MerkleTile.shift(level)
            let count = Int(hashes % MerkleTile.width)
            guard count > 0 else { continue }
            tails[level] = try source.hashes(level: level, from: hashes - Int64(count), count: count)
        }
    }

    /// Appends a leaf.
    ///
    /// - Returns: the tiles that it filled, lowest level first.
    package mutating func append(_ leaf: MerkleHash) -> [MerkleTile] {
        size += 1
        var tiles: [MerkleTile] = []
        var hash = leaf
        for level in 0..<MerkleTile.levels {
            tails[level].append(hash)
            guard tails[level].count == Int(MerkleTile.width) else { break }
            let tile = MerkleTile(
                level: level, number: (size >> MerkleTile.shift(level)) / MerkleTile.width - 1, hashes: tails[level])
            tails[level].removeAll(keepingCapacity: true)
            tiles.append(tile)
            hash = tile.root
        }
        return tiles
    }

    /// The root of the tree (RFC 9162, 2.1.1).
    package func root() -> MerkleHash {
        var root: MerkleHash?
        for tail in tails {
            // From the right, the complete trees of a tail have the sizes of the bits of its count, smallest first.
            var end = tail.count
            for bit in 0..<MerkleTile.height where tail.count & (1 << bit) != 0 {
                let left = MerkleHash.root(ofComplete: tail[(end - 1 << bit)..<end])
                root = root.map { .node(left, $0) } ?? left
                end -= 1 << bit
            }
        }
        return root ?? .ofEmptyTree
    }
}
