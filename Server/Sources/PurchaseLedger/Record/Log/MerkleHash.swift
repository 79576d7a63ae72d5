import Crypto

/// A hash of a Merkle tree: SHA-256 with the prefixes of RFC 9162, 2.1.1.
public struct MerkleHash: Sendable, Hashable {
    /// The number of bytes.
    public static let size = 32

    // Words in memory order, so that a hash needs no allocation.
    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    /// The root of a tree without leaves: SHA-256 of the empty string.
    public static let ofEmptyTree = MerkleHash(SHA256().finalize())

    /// The hash of a leaf: SHA-256 of a zero byte and its content.
    public static func leaf(_ content: [UInt8]) -> MerkleHash {
        var hash = SHA256()
        leafPrefix.withUnsafeBytes { hash.update(bufferPointer: $0) }
        content.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return MerkleHash(hash.finalize())
    }

    /// The hash of a node: SHA-256 of a byte of 1 and its two children.
    public static func node(_ left: MerkleHash, _ right: MerkleHash) -> MerkleHash {
        var hash = SHA256()
        nodePrefix.withUnsafeBytes { hash.update(bufferPointer: $0) }
        withUnsafeBytes(of: left) { hash.update(bufferPointer: $0) }
        withUnsafeBytes(of: right) { hash.update(bufferPointer: $0) }
        return MerkleHash(hash.finalize())
    }

    /// The root of a complete tree, whose number of hashes is a power of two.
    static func root(ofComplete hashes: ArraySlice<MerkleHash>) -> MerkleHash {
        var row = Array(hashes)
        while row.count > 1 {
            row = stride(from: 0, to: row.count - 1, by: 2).map { node(row[$0], row[$0 + 1]) }
        }
        return row.first ?? ofEmptyTree
    }

    /// A hash of 32 bytes; `nil` for other lengths.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self = bytes.withUnsafeBytes { Self(words: $0) }
    }

    /// The 32 bytes.
    public var bytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }

    private init(_ digest: SHA256.Digest) {
        self = digest.withUnsafeBytes { Self(words: $0) }
    }

    private init(words bytes: UnsafeRawBufferPointer) {
        first = bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        second = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        third = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
        fourth = bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
    }

    private static let leafPrefix: [UInt8] = [0]
    private static let nodePrefix: [UInt8] = [1]
}

extension [MerkleHash] {
    /// The hashes in sequence, as in a stored tile.
    var concatenated: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * MerkleHash.size)
        for hash in self { Swift.withUnsafeBytes(of: hash) { bytes.append(contentsOf: $0) } }
        return bytes
    }

    /// The hashes of a stored tile; `nil` if the length is not a multiple of the hash size.
    init?(concatenated bytes: [UInt8]) {
        guard bytes.count % MerkleHash.size == 0 else { return nil }
        self = []
        reserveCapacity(bytes.count / MerkleHash.size)
        for start in stride(from: 0, to: bytes.count, by: MerkleHash.size) {
            guard let hash = MerkleHash(Array<UInt8>(bytes[start..<(start + MerkleHash.size)])) else { return nil }
            append(hash)
        }
    }
}

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
