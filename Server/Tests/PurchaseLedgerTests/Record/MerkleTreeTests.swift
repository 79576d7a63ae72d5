import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// `ASSAY_TREE_SIZES=all` has every size up to 300; without it, the sizes up to 80, and those around 128 and 256
/// hashes, which fill a tile. `dev/torture.sh histories` sets it.
@Suite("The Merkle tree")
struct MerkleTreeTests {
    private static let sizes =
        ProcessInfo.processInfo.environment["ASSAY_TREE_SIZES"] == "all"
        ? Array(0...300) : Array(0...80) + [127, 128, 129, 200, 255, 256, 257, 258, 300]

    /// The leaves of the tests of Certificate Transparency, and the roots of the trees of the first 1 to 8 of them.
    private static let leaves: [[UInt8]] = [
        [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43],
        [0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57], (0x60...0x6F).map { UInt8($0) },
    ]
    private static let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]

    private func text(_ hash: MerkleHash) -> String {
        hash.bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    @Test("Roots and proofs are those of Certificate Transparency's test vectors")
    func vectors() throws {
        #expect(text(.ofEmptyTree) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        let reference = RecursiveMerkleTree(Self.leaves.map { .leaf($0) })
        for size in 1...8 {
            #expect(text(try MerkleTree(size: Int64(size), source: reference).root()) == Self.roots[size - 1])
        }
        let tree = MerkleTree(size: 8, source: reference)
        #expect(
            try tree.consistencyProof(from: 1)?.map(text) == [
                "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
            ])
        #expect(
            try tree.consistencyProof(from: 6)?.map(text) == [
                "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ])
        #expect(
            try MerkleTree(size: 5, source: reference).consistencyProof(from: 2)?.map(text) == [
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            ])
        #expect(
            try tree.inclusionProof(of: 0)?.map(text) == [
                "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
            ])
    }

    @Test("For every small size, roots and proofs are those of the recursive definition, and verify")
    func allSizes() throws {
        let reference = RecursiveMerkleTree(count: 300)
        // An expectation for each of the 90,000 proofs would take longer than the proofs.
        var wrong: [String] = []
        for size in Self.sizes {
            let tree = MerkleTree(size: Int64(size), source: reference)
            let root = try tree.root()
            if root != reference.root(0..<size) { wrong.append("root of \(size)") }
            for leaf in 0..<size {
                let path = try tree.inclusionProof(of: Int64(leaf)) ?? []
                let isIncluded = MerkleProof.isIncluded(
                    reference.leaves[leaf], at: Int64(leaf), size: Int64(size), root: root, path: path)
                if path != reference.path(leaf, 0..<size) || !isIncluded { wrong.append("leaf \(leaf) of \(size)") }
            }
            for earlier in 0...size {
                let path = try tree.consistencyProof(from: Int64(earlier)) ?? []
                let extends = MerkleProof.extends(
                    from: (Int64(earlier), reference.root(0..<earlier)), to: (Int64(size), root), path: path)
                if path != reference.proof(earlier, size) || !extends { wrong.append("from \(earlier) to \(size)") }
            }
            #expect(try tree.inclusionProof(of: Int64(size)) == nil && tree.inclusionProof(of: -1) == nil)
            #expect(try tree.consistencyProof(from: Int64(size) + 1) == nil)
        }
        #expect(wrong == [])
    }

    @Test("Random sizes up to 70,000: the same, from few reads")
    func randomSizes() throws {
        let reference = RecursiveMerkleTree(count: 70_000)
        var generator = SeededGenerator(seed: 14)
        let sizes = [255, 256, 257, 65_535, 65_536, 65_537, 70_000]
        for size in sizes + (0..<20).map({ _ in Int.random(in: 1...70_000, using: &generator) }) {
            let tree = MerkleTree(size: Int64(size), source: reference)
            let root = reference.root(0..<size)
            #expect(try tree.root() == root)
            for _ in 0..<10 {
                let leaf = Int.random(in: 0..<size, using: &generator)
                let before = reference.reads
                let path = try #require(try tree.inclusionProof(of: Int64(leaf)))
                #expect(reference.reads - before < 64)
                #expect(path == reference.path(leaf, 0..<size))
                #expect(
                    MerkleProof.isIncluded(
                        reference.leaves[leaf], at: Int64(leaf), size: Int64(size), root: root, path: path))
                let earlier = Int.random(in: 0...size, using: &generator)
                let proof = try #require(try tree.consistencyProof(from: Int64(earlier)))
                #expect(proof == reference.proof(earlier, size))
                #expect(
                    MerkleProof.extends(
                        from: (Int64(earlier), reference.root(0..<earlier)), to: (Int64(size), root), path: proof))
            }
        }
    }

    @Test("Appending gives the same roots and tiles, from the start and from any size")
    func appending() throws {
        let reference = RecursiveMerkleTree(count: 66_000)
        var appender = MerkleAppender()
        var tiles: [MerkleTile] = []
        #expect(appender.root() == .ofEmptyTree)
        for (number, leaf) in reference.leaves.enumerated() {
            tiles += appender.append(leaf)
            let size = number + 1
            guard size <= 600 || size % 4093 == 0 || (65_530...65_545).contains(size) else { continue }
            try #require(appender.root() == reference.root(0..<size), "size \(size)")
            let resumed = try MerkleAppender(size: Int64(size), source: reference)
            try #require(resumed.root() == reference.root(0..<size), "resumed at \(size)")
        }
        #expect(tiles.count == 66_000 / 256 + 1)
        for tile in tiles {
            #expect(
                try tile.hashes == reference.hashes(level: tile.level, from: tile.number * 256, count: 256),
                "tile \(tile.level)/\(tile.number)")
        }
    }

    @Test("A proof with any flipped bit, with a hash more or less, or of another leaf is refused")
    func changedInclusion() throws {
        let reference = RecursiveMerkleTree(count: 70)
        for size in Array(1...12) + [33, 64, 70] {
            let root = reference.root(0..<size)
            for leaf in 0..<size where size <= 12 || leaf % 13 == 0 {
                let path = reference.path(leaf, 0..<size)
                func isIncluded(_ path: [MerkleHash], at place: Int? = nil, hash: MerkleHash? = nil) -> Bool {
                    MerkleProof.isIncluded(
                        hash ?? reference.leaves[leaf], at: Int64(place ?? leaf), size: Int64(size), root: root,
                        path: path)
                }
                try #require(isIncluded(path))
                for changed in flips(of: path) { try #require(!isIncluded(changed)) }
                for hash in flips(of: [reference.leaves[leaf]]) { try #require(!isIncluded(path, hash: hash[0])) }
                #expect(!isIncluded(path + [root]))
                #expect(path.isEmpty || !isIncluded(path.dropLast()))
                for place in -1...size where place != leaf { #expect(!isIncluded(path, at: place)) }
                for other in 0..<size where other != leaf {
                    #expect(!isIncluded(path, hash: reference.leaves[other]))
                }
                for other in 0...70 where other != size {
                    // Another checkpoint has another root for its size.
                    #expect(
                        !MerkleProof.isIncluded(
                            reference.leaves[leaf], at: Int64(leaf), size: Int64(other),
                            root: reference.root(0..<other), path: path), "leaf \(leaf) of \(size) in \(other)")
                }
            }
        }
    }

    @Test("A consistency proof with any flipped bit, with a hash more or less, or of other sizes is refused")
    func changedConsistency() throws {
        let reference = RecursiveMerkleTree(count: 70)
        for size in Array(2...10) + [33, 64, 70] {
            for earlier in 1..<size where size <= 10 || earlier % 11 == 0 {
                let path = reference.proof(earlier, size)
                func extends(_ path: [MerkleHash], from: Int? = nil, to: Int? = nil) -> Bool {
                    MerkleProof.extends(
                        from: (Int64(from ?? earlier), reference.root(0..<(from ?? earlier))),
                        to: (Int64(to ?? size), reference.root(0..<(to ?? size))), path: path)
                }
                try #require(extends(path))
                for changed in flips(of: path) { try #require(!extends(changed)) }
                #expect(!extends(path + [reference.root(0..<size)]))
                #expect(!extends(path.dropLast()))
                for other in 0...70 where other != earlier { #expect(!extends(path, from: other)) }
                for other in 0...70 where other != size { #expect(!extends(path, to: other)) }
            }
        }
    }

    @Test("Sizes and paths out of range are refused")
    func bounds() {
        let hash = MerkleHash.leaf([1])
        for size in [Int64.min, -1, 0, .max] {
            #expect(!MerkleProof.isIncluded(hash, at: 0, size: size, root: hash, path: []))
            #expect(!MerkleProof.isIncluded(hash, at: size, size: size, root: hash, path: []))
            #expect(!MerkleProof.extends(from: (size, hash), to: (1, hash), path: []))
        }
        #expect(MerkleProof.isIncluded(hash, at: 0, size: 1, root: hash, path: []))
        let long = Array(repeating: hash, count: 64)
        #expect(!MerkleProof.isIncluded(hash, at: 0, size: .max, root: hash, path: long))
        #expect(!MerkleProof.extends(from: (1, hash), to: (.max, hash), path: long))
        for count in [0, 1, 31, 33, 64] { #expect(MerkleHash([UInt8](repeating: 1, count: count)) == nil) }
    }

    /// Every path with one bit flipped.
    private func flips(of path: [MerkleHash]) -> [[MerkleHash]] {
        path.indices.flatMap { place in
            (0..<256).map { bit in
                var bytes = path[place].bytes
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                var changed = path
                changed[place] = MerkleHash(bytes) ?? path[place]
                return changed
            }
        }
    }
}

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
