/// Verifies proofs of a Merkle tree. The number of hashes limits the work, whatever the numbers in the proof.
public enum MerkleProof {
    /// The maximum number of hashes of a proof: a tree of 2⁶² leaves has 62 rows, and a consistency proof has one more
    /// hash.
    public static let largestPath = 63

    /// Whether a leaf is in the tree with a root (RFC 9162, 2.1.3.2).
    ///
    /// The size determines how the hashes are joined and is not itself proven: take it and the root from one signed
    /// checkpoint.
    public static func isIncluded(
        _ leafHash: MerkleHash, at leaf: Int64, size: Int64, root: MerkleHash, path: [MerkleHash]
    ) -> Bool {
        guard leaf >= 0, leaf < size, path.count <= largestPath else { return false }
        var position = Position(leaf, size - 1)
        var hash = leafHash
        for sibling in path {
            guard position.last != 0 else { return false }
            if position.isRightChild {
                hash = .node(sibling, hash)
                position.skipMissingRows()
            } else {
                hash = .node(hash, sibling)
            }
            position.up()
        }
        return position.last == 0 && hash == root
    }

    /// Whether a tree extends an earlier one (RFC 9162, 2.1.4.2).
    public static func extends(
        from earlier: (size: Int64, root: MerkleHash), to later: (size: Int64, root: MerkleHash), path: [MerkleHash]
    ) -> Bool {
        guard earlier.size >= 0, earlier.size <= later.size, path.count <= largestPath else { return false }
        if earlier.size == later.size { return path.isEmpty && earlier.root == later.root }
        if earlier.size == 0 { return path.isEmpty && earlier.root == .ofEmptyTree }
        var position = Position(earlier.size - 1, later.size - 1)
        while position.leaf & 1 == 1 { position.up() }
        var rest = path[...]
        // A tree whose size is a power of two is a node of the later tree, so its root is not repeated.
        let isNode = earlier.size & (earlier.size - 1) == 0
        guard !path.isEmpty, let start = isNode ? earlier.root : rest.popFirst() else { return false }
        var (old, new) = (start, start)
        for sibling in rest {
            guard position.last != 0 else { return false }
            if position.isRightChild {
                old = .node(sibling, old)
                new = .node(sibling, new)
                position.skipMissingRows()
            } else {
                new = .node(new, sibling)
            }
            position.up()
        }
        return position.last == 0 && old == earlier.root && new == later.root
    }

    /// The position of a node in its row, and of the last node of the row (`fn` and `sn` in RFC 9162).
    private struct Position {
        var leaf: Int64
        var last: Int64

        init(_ leaf: Int64, _ last: Int64) {
            (self.leaf, self.last) = (leaf, last)
        }

        var isRightChild: Bool { leaf & 1 == 1 || leaf == last }

        mutating func up() {
            leaf >>= 1
            last >>= 1
        }

        /// The last node of an odd row has no sibling and is the same in the row above.
        mutating func skipMissingRows() {
            while leaf & 1 == 0, leaf != 0 { up() }
        }
    }
}
