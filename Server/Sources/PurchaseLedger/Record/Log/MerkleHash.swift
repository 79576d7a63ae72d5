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
