/// A Merkle tree of RFC 9162 over hashes that are read in tiles.
package struct MerkleTree {
    /// The number of leaves.
    let size: Int64
    let source: any MerkleHashSource

    package init(size: Int64, source: any MerkleHashSource) {
        self.size = size
        self.source = source
    }

    /// The root (RFC 9162, 2.1.1).
    package func root() throws(LedgerStorageError) -> MerkleHash {
        try root(of: 0..<max(size, 0))
    }

    /// The hashes that prove that a leaf is in the tree (RFC 9162, 2.1.3.1).
    ///
    /// - Returns: `nil` if the tree has no such leaf.
    package func inclusionProof(of leaf: Int64) throws(LedgerStorageError) -> [MerkleHash]? {
        guard leaf >= 0, leaf < size else { return nil }
        var range = 0..<size
        var path: [MerkleHash] = []
        while range.upperBound - range.lowerBound > 1 {
            let middle = Self.middle(range)
            if leaf < middle {
                path.append(try root(of: middle..<range.upperBound))
                range = range.lowerBound..<middle
            } else {
                path.append(try root(of: range.lowerBound..<middle))
                range = middle..<range.upperBound
            }
        }
        return path.reversed()
    }

    /// The hashes that prove that the tree extends an earlier one (RFC 9162, 2.1.4.1). For an empty tree, and for the
    /// same tree, no hashes are needed.
    ///
    /// - Returns: `nil` if the earlier tree is larger.
    package func consistencyProof(from earlier: Int64) throws(LedgerStorageError) -> [MerkleHash]? {
        guard earlier >= 0, earlier <= size else { return nil }
        guard earlier > 0, earlier < size else { return [] }
        var range = 0..<size
        var path: [MerkleHash] = []
        while range.upperBound != earlier {
            let middle = Self.middle(range)
            if earlier <= middle {
                path.append(try root(of: middle..<range.upperBound))
                range = range.lowerBound..<middle
            } else {
                path.append(try root(of: range.lowerBound..<middle))
                range = middle..<range.upperBound
            }
        }
        // A part that starts at the left edge is the earlier root, which the verifier has.
        if range.lowerBound > 0 { path.append(try root(of: range)) }
        return path.reversed()
    }

    /// The root of a part in RFC 9162's division: its start is a multiple of each complete tree that it begins with.
    private func root(of range: Range<Int64>) throws(LedgerStorageError) -> MerkleHash {
        var parts: [MerkleHash] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let height = 63 - (range.upperBound - start).leadingZeroBitCount
            parts.append(try complete(start, height: height))
            start += 1 << Int64(height)
        }
        guard var root = parts.popLast() else { return .ofEmptyTree }
        while let left = parts.popLast() { root = .node(left, root) }
        return root
    }

    /// The root of a complete tree of 2^height leaves.
    private func complete(_ start: Int64, height: Int) throws(LedgerStorageError) -> MerkleHash {
        let level = height / MerkleTile.height
        let hashes = try source.hashes(
            level: level, from: start >> MerkleTile.shift(level), count: 1 << (height % MerkleTile.height))
        return .root(ofComplete: hashes[...])
    }

    /// The split point of RFC 9162: after the largest power of two that is smaller than the size.
    private static func middle(_ range: Range<Int64>) -> Int64 {
        let size = range.upperBound - range.lowerBound
        return range.lowerBound + 1 << Int64(63 - (size - 1).leadingZeroBitCount)
    }
}
