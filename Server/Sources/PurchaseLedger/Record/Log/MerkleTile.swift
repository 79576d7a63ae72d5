/// A full tile of a Merkle tree (C2SP `tlog-tiles`): 256 adjacent hashes.
///
/// A hash at level 0 is that of a leaf. A hash at level `n` is the root of the 256 hashes of one tile of level `n - 1`,
/// so it covers 256ⁿ leaves. A full tile never changes.
package struct MerkleTile: Sendable, Equatable {
    /// The number of hashes of a full tile.
    package static let width: Int64 = 256
    /// log₂ of the width.
    static let height = 8
    /// The number of levels: a tree of 2⁶³ leaves has 63 rows.
    static let levels = 8

    package let level: Int
    /// Its position in its level, from 0.
    package let number: Int64
    package let hashes: [MerkleHash]
    /// The root of its hashes, which is a hash of the next level.
    package let root: MerkleHash

    init(level: Int, number: Int64, hashes: [MerkleHash]) {
        self.level = level
        self.number = number
        self.hashes = hashes
        root = MerkleHash.root(ofComplete: hashes[...])
    }

    /// The number of leaves that a hash of a level covers, as a shift.
    static func shift(_ level: Int) -> Int64 { Int64(level * height) }

    /// The number of full tiles of a level in a tree of a size.
    static func full(level: Int, size: Int64) -> Int64 { (size >> shift(level)) / width }

    /// Whether a tile is full in a tree of a size.
    static func isFull(level: Int, number: Int64, size: Int64) -> Bool { number < full(level: level, size: size) }
}
