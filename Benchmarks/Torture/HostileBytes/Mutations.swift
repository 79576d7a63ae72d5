/// Random numbers that are the same for the same seed, on every machine (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to the limit, exclusive; the limit must be positive.
    public mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}

/// A random change of bytes that ignores their structure.
public enum ByteMutation: String, CaseIterable, Sendable {
    case bitFlip = "bit flip"
    case byteChange = "byte change"
    case deletion
    case insertion
    case swap = "swap of ranges"
    case truncation

    /// The bytes with any change, anywhere.
    public static func changed(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        guard !bytes.isEmpty else { return [0] }
        return allCases[generator.below(allCases.count)].applied(to: bytes, within: 0..<bytes.count, &generator)
    }

    /// The bytes with this change, somewhere within the range, which must not be empty.
    public func applied(
        to bytes: [UInt8], within range: Range<Int>, _ generator: inout SeededGenerator
    ) -> [UInt8] {
        let position = range.lowerBound + generator.below(range.count)
        var result = bytes
        switch self {
        case .bitFlip:
            result[position] ^= 1 << UInt8(generator.below(8))
        case .byteChange:
            result[position] &+= UInt8(1 + generator.below(255))
        case .deletion:
            let count = min(1 + generator.below(8), bytes.count - position)
            result.removeSubrange(position..<(position + count))
        case .insertion:
            let inserted = (0...generator.below(8)).map { _ in UInt8(generator.below(256)) }
            result.insert(contentsOf: inserted, at: position)
        case .swap:
            let other = range.lowerBound + generator.below(range.count)
            let (first, second) = (min(position, other), max(position, other))
            let count = min(1 + generator.below(16), second - first, bytes.count - second)
            for offset in 0..<max(0, count) { result.swapAt(first + offset, second + offset) }
        case .truncation:
            result.removeSubrange(position...)
        }
        return result
    }
}

/// A change of the structure that corrects the surrounding lengths, which random changes of bytes rarely do.
public enum StructureMutation: String, CaseIterable, Sendable {
    case content
    case deletion
    case doubling
    case exchange
    case retagging
    case openLength = "open length"
    case paddedLength = "padded length"
    case claimedLength = "claimed length"
    case pieces = "string in pieces"
    case insertion
    case transplant
    case wrapping
    case emptying

    /// Changes the tree at one element.
    ///
    /// - Parameters:
    ///   - element: its number, counted as by `DERTree.change`; any element if there is none with the number.
    ///   - changed: gives other content for a primitive element.
    public func apply(
        to tree: inout DERTree, element: Int? = nil, _ generator: inout SeededGenerator, changed: ([UInt8]) -> [UInt8]
    ) {
        let number = element ?? generator.below(tree.count)
        let donor = tree.element(generator.below(tree.count))
        var generatorCopy = generator
        tree.change(element: number) { element in
            change(&element, donor, &generatorCopy, changed)
        }
        generator = generatorCopy
    }

    /// Makes any change of a tree.
    public static func change(
        _ tree: inout DERTree, _ generator: inout SeededGenerator, changed: ([UInt8]) -> [UInt8]
    ) {
        allCases[generator.below(allCases.count)].apply(to: &tree, &generator, changed: changed)
    }

    private func change(
        _ element: inout DERTree, _ donor: DERTree, _ generator: inout SeededGenerator,
        _ changed: ([UInt8]) -> [UInt8]
    ) {
        let children = element.children
        switch self {
        case .content:
            element = DERTree(tag: element.tag & ~0x20, content: changed(element.contentBytes))
        case .deletion:
            guard !children.isEmpty else { return }
            element.children.remove(at: generator.below(children.count))
        case .doubling:
            guard !children.isEmpty else { return }
            let index = generator.below(children.count)
            element.children.insert(children[index], at: generator.below(children.count + 1))
        case .exchange:
            guard children.count > 1 else { return }
            element.children.swapAt(generator.below(children.count), generator.below(children.count))
        case .retagging:
            element.tag = Self.tags[generator.below(Self.tags.count)]
        case .openLength:
            element.length = .indefinite
            element.tag |= 0x20
        case .paddedLength:
            element.length = .octets(1 + generator.below(6))
        case .claimedLength:
            element.length = .claimed(Self.lengths[generator.below(Self.lengths.count)])
        case .pieces:
            Self.split(&element, &generator)
        case .insertion:
            element.children.insert(Self.morsel(&generator), at: generator.below(children.count + 1))
        case .transplant:
            element = donor
        case .wrapping:
            let tag = [0x30, 0x31, 0x04, 0x24, 0xA0][generator.below(5)] as UInt8
            element = DERTree(tag: tag, children: [element])
        case .emptying:
            element = DERTree(tag: element.tag)
        }
    }

    private static func split(_ element: inout DERTree, _ generator: inout SeededGenerator) {
        let content = element.contentBytes
        let cut = generator.below(content.count + 1)
        let pieces = [content[..<cut], content[cut...]].map { DERTree(tag: element.tag & ~0x20, content: Array($0)) }
        element = DERTree(tag: element.tag | 0x20, children: pieces)
        if generator.below(2) == 0 { element.length = .indefinite }
    }

    /// Small elements that readers tend to trip over.
    private static func morsel(_ generator: inout SeededGenerator) -> DERTree {
        let morsels: [DERTree] = [
            DERTree(tag: 0x05), DERTree(tag: 0x02), DERTree(tag: 0x02, content: [0]), DERTree(tag: 0x02, content: [1]),
            DERTree(tag: 0x02, content: [0, 1]), DERTree(tag: 0x02, content: [0xFF, 0xFF]),
            DERTree(tag: 0x02, content: [UInt8](repeating: 0xFF, count: 9)),
            DERTree(tag: 0x02, content: [0x7F] + [UInt8](repeating: 0xFF, count: 7)),
            DERTree(tag: 0x04), DERTree(tag: 0x03, content: [7]), DERTree(tag: 0x01, content: [0xFF]),
            DERTree(tag: 0x16, content: Array("0000-01-01T00:00:00+2359".utf8)),
            DERTree(tag: 0x16, content: Array("9999-12-31T23:59:59.999999999-23:59".utf8)),
            DERTree(tag: 0x0C, content: [0xC0, 0x80]), DERTree(tag: 0x30, children: []),
            DERTree(tag: 0x31, children: []),
            DERTree(tag: 0x06), DERTree(tag: 0x06, content: [UInt8](repeating: 0xFF, count: 12)),
            DERTree(tag: 0x00), DERTree(tag: 0xA0, children: []), DERTree(tag: 0xA1, children: []),
        ]
        return morsels[generator.below(morsels.count)]
    }

    private static let tags: [UInt8] = [
        0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0C, 0x13, 0x16, 0x17, 0x18, 0x1F, 0x22, 0x24, 0x2C, 0x30, 0x31,
        0x3F, 0x80, 0x81, 0xA0, 0xA1, 0xA3, 0xFF,
    ]

    private static let lengths = [
        0, 1, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x10000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x1_0000_0000, Int.max,
    ]
}
