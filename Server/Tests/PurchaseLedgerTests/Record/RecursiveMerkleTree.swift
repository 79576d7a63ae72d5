import PurchaseLedger

/// A Merkle tree as defined in RFC 9162, 2.1, by recursion over all leaves. The reference for results that are computed
/// from tiles.
final class RecursiveMerkleTree: MerkleHashSource {
    let leaves: [MerkleHash]
    private var roots: [Range<Int>: MerkleHash] = [:]
    /// The reads of the tree under test.
    private(set) var reads = 0

    init(_ leaves: [MerkleHash]) {
        self.leaves = leaves
    }

    /// A tree of leaves whose contents are the numbers from 0.
    convenience init(count: Int) {
        self.init(
            (0..<count).map { number in MerkleHash.leaf((0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }) }
        )
    }

    /// MTH(D[range])
    func root(_ range: Range<Int>) -> MerkleHash {
        if range.isEmpty { return .ofEmptyTree }
        if range.count == 1 { return leaves[range.lowerBound] }
        if let root = roots[range] { return root }
        let middle = range.lowerBound + Self.split(range.count)
        let root = MerkleHash.node(root(range.lowerBound..<middle), root(middle..<range.upperBound))
        roots[range] = root
        return root
    }

    /// PATH(m, D[range])
    func path(_ leaf: Int, _ range: Range<Int>) -> [MerkleHash] {
        guard range.count > 1 else { return [] }
        let middle = range.lowerBound + Self.split(range.count)
        return leaf < middle
            ? path(leaf, range.lowerBound..<middle) + [root(middle..<range.upperBound)]
            : path(leaf, middle..<range.upperBound) + [root(range.lowerBound..<middle)]
    }

    /// PROOF(m, D[0:n])
    func proof(_ earlier: Int, _ size: Int) -> [MerkleHash] {
        earlier == 0 || earlier == size ? [] : subproof(earlier, 0..<size, true)
    }

    private func subproof(_ earlier: Int, _ range: Range<Int>, _ isKnown: Bool) -> [MerkleHash] {
        if earlier == range.upperBound { return isKnown ? [] : [root(range)] }
        let middle = range.lowerBound + Self.split(range.count)
        return earlier <= middle
            ? subproof(earlier, range.lowerBound..<middle, isKnown) + [root(middle..<range.upperBound)]
            : subproof(earlier, middle..<range.upperBound, false) + [root(range.lowerBound..<middle)]
    }

    /// The largest power of two that is smaller.
    private static func split(_ count: Int) -> Int {
        var split = 1
        while split * 2 < count { split *= 2 }
        return split
    }

    func hashes(level: Int, from first: Int64, count: Int) throws(LedgerStorageError) -> [MerkleHash] {
        reads += 1
        let width = (0..<level).reduce(1) { width, _ in width * 256 }
        let places = Int(first)..<Int(first) + count
        guard count > 0, places.lowerBound / 256 == (places.upperBound - 1) / 256,
            places.upperBound * width <= leaves.count
        else { throw LedgerStorageError(.other, "level \(level) has no hashes \(places) in one tile") }
        return places.map { root($0 * width..<($0 + 1) * width) }
    }
}
