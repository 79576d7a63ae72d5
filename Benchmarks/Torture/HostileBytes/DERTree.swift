/// DER or BER parsed into a tree, in which a part can be changed and which can be written again. It shares no code with
/// the core.
///
/// Unchanged elements keep their encoding, with indefinite or padded lengths. Octet and bit strings that contain DER
/// are parsed as well: a receipt's payload and the values of its attributes.
public struct DERTree: Sendable, Equatable {
    /// The encoding of the length of an element.
    public enum Length: Sendable, Equatable {
        /// In the minimum number of octets.
        case shortest
        /// Left open, and closed by end-of-contents octets (X.690, 8.1.3.6).
        case indefinite
        /// In a fixed number of octets after the first.
        case octets(Int)
        /// As a number that may be wrong.
        case claimed(Int)
    }

    public var tag: UInt8
    public var length: Length
    /// The content of an element without children. In a bit string with children: the octet before them.
    public var content: [UInt8]
    /// The elements inside.
    public var children: [DERTree]
    /// Whether the content is `children`.
    public var isComposite: Bool
    /// The position of the element in the parsed bytes.
    public private(set) var range: Range<Int>

    public init(tag: UInt8, content: [UInt8] = []) {
        (self.tag, self.content, length) = (tag, content, .shortest)
        (children, isComposite, range) = ([], false, 0..<0)
    }

    public init(tag: UInt8, children: [DERTree]) {
        (self.tag, self.children, length) = (tag, children, .shortest)
        (content, isComposite, range) = ([], true, 0..<0)
    }

    /// Parses one element that fills the bytes; `nil` if its length ends elsewhere. Content that cannot be parsed stays
    /// bytes.
    public init?(_ bytes: [UInt8]) {
        var reader = DERTreeReader(bytes: bytes)
        guard let tree = reader.element(end: bytes.count, depth: 0), reader.position == bytes.count else { return nil }
        self = tree
    }

    fileprivate init(tag: UInt8, length: Length, from start: Int) {
        (self.tag, self.length, content, children, isComposite) = (tag, length, [], [], false)
        range = start..<start
    }

    fileprivate mutating func close(at end: Int) { range = range.lowerBound..<end }

    /// The element written again.
    public var bytes: [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(contentCount + 16)
        write(to: &output)
        return output
    }

    /// The content written again.
    public var contentBytes: [UInt8] {
        guard isComposite else { return content }
        var output = content
        for child in children { child.write(to: &output) }
        return output
    }

    private func write(to output: inout [UInt8]) {
        output.append(tag)
        switch length {
        case .shortest: Self.append(length: contentCount, to: &output)
        case .indefinite: output.append(0x80)
        case .octets(let count): Self.append(length: contentCount, in: count, to: &output)
        case .claimed(let claim): Self.append(length: claim, to: &output)
        }
        output += content
        for child in children { child.write(to: &output) }
        if case .indefinite = length { output += [0, 0] }
    }

    private var contentCount: Int {
        children.reduce(content.count) { $0 + $1.count(ofLength: $1.contentCount) }
    }

    private func count(ofLength contentCount: Int) -> Int {
        let octets =
            switch length {
            case .shortest: Self.octets(of: contentCount)
            case .indefinite: 2
            case .octets(let count): max(Self.octets(of: contentCount, isLong: true), min(count, 126))
            case .claimed(let claim): Self.octets(of: claim)
            }
        return 2 + octets + contentCount
    }

    /// The number of octets after the first one of a length.
    private static func octets(of length: Int, isLong: Bool = false) -> Int {
        guard isLong || length >= 0x80 else { return 0 }
        return max(1, (Int.bitWidth - length.leadingZeroBitCount + 7) / 8)
    }

    private static func append(length: Int, in octets: Int? = nil, to output: inout [UInt8]) {
        guard octets != nil || length >= 0x80 else { return output.append(UInt8(length)) }
        let count = max(Self.octets(of: length, isLong: true), min(octets ?? 0, 126))
        output.append(0x80 | UInt8(count))
        for index in (0..<count).reversed() {
            output.append(index < 8 ? UInt8(truncatingIfNeeded: length >> (8 * index)) : 0)
        }
    }
}

extension DERTree {
    /// The element at a path of child numbers; `nil` if there is none.
    public subscript(_ path: Int...) -> DERTree? {
        path.reduce(self) { tree, number in
            tree.flatMap { $0.children.indices.contains(number) ? $0.children[number] : nil }
        }
    }

    /// The number of elements, this one included.
    public var count: Int { children.reduce(1) { $0 + $1.count } }

    /// The position of each element, in the order in which they are written.
    public var elements: [Range<Int>] { [range] + children.flatMap(\.elements) }

    /// Changes the element with this number, counted from 0 in the order in which they are written.
    public mutating func change(element number: Int, _ body: (inout DERTree) -> Void) {
        guard number > 0 else { return body(&self) }
        var rest = number - 1
        for index in children.indices {
            let count = children[index].count
            if rest < count { return children[index].change(element: rest, body) }
            rest -= count
        }
    }

    /// The element with this number, counted as in `change`; the root if there is none.
    public func element(_ number: Int) -> DERTree {
        var rest = number - 1
        for child in children where rest >= 0 {
            let count = child.count
            if rest < count { return child.element(rest) }
            rest -= count
        }
        return self
    }

    /// The same value with minimal definite lengths, and strings in one piece. Strings that enclose DER are left
    /// unchanged, because they are content and not encoding.
    public var inDefiniteLengths: DERTree {
        guard tag & 0x20 != 0, isComposite else { return DERTree(tag: tag, content: contentBytes) }
        let inner = children.map(\.inDefiniteLengths)
        guard tag == 0x24 else { return DERTree(tag: tag, children: inner) }
        return DERTree(tag: 0x04, content: inner.flatMap(\.contentBytes))
    }
}

/// Reads a tree, never beyond a depth, so that hostile nests cannot exhaust the stack of the tools either.
private struct DERTreeReader {
    let bytes: [UInt8]
    var position = 0

    private static let depth = 60

    mutating func element(end: Int, depth: Int) -> DERTree? {
        let start = position
        guard depth < Self.depth, end - start >= 2, bytes[start] & 0x1F != 0x1F else { return nil }
        let tag = bytes[start]
        var count = Int(bytes[start + 1])
        position = start + 2
        var length = DERTree.Length.shortest
        if count == 0x80 {
            return indefinite(tag, start, end: end, depth: depth)
        }
        if count > 0x80 {
            let octets = count & 0x7F
            guard octets <= 8, end - position >= octets, bytes[position] < 0x80 || octets < 8 else { return nil }
            count = bytes[position..<(position + octets)].reduce(0) { $0 << 8 | Int($1) }
            if bytes[position] == 0 || count < 0x80 { length = .octets(octets) }
            position += octets
        }
        guard count <= end - position else { return nil }
        var tree = DERTree(tag: tag, length: length, from: start)
        let contentEnd = position + count
        if tag & 0x20 != 0 {
            let contentStart = position
            tree.isComposite = true
            if let children = elements(until: contentEnd, depth: depth + 1) {
                tree.children = children
            } else {
                // Damaged inside: it is kept as bytes.
                tree.isComposite = false
                tree.content = Array(bytes[contentStart..<contentEnd])
                position = contentEnd
            }
        } else {
            readContent(of: &tree, end: contentEnd, depth: depth)
        }
        tree.close(at: position)
        return tree
    }

    /// Elements that fill the bytes up to the end. If there are none, the position has no meaning.
    private mutating func elements(until end: Int, depth: Int) -> [DERTree]? {
        var elements: [DERTree] = []
        while position < end {
            guard let element = element(end: end, depth: depth) else { return nil }
            elements.append(element)
        }
        return elements
    }

    private mutating func indefinite(_ tag: UInt8, _ start: Int, end: Int, depth: Int) -> DERTree? {
        guard tag & 0x20 != 0 else { return nil }
        var tree = DERTree(tag: tag, length: .indefinite, from: start)
        tree.isComposite = true
        while true {
            guard end - position >= 2 else { return nil }
            if bytes[position] == 0, bytes[position + 1] == 0 { break }
            guard let child = element(end: end, depth: depth + 1) else { return nil }
            tree.children.append(child)
        }
        position += 2
        tree.close(at: position)
        return tree
    }

    /// The content of a primitive element; a string that contains only DER is parsed.
    private mutating func readContent(of tree: inout DERTree, end: Int, depth: Int) {
        let start = position
        let isBitString = tree.tag == 0x03
        if tree.tag == 0x04 || (isBitString && start < end && bytes[start] == 0), end - start >= 4 {
            if isBitString { position += 1 }
            if let children = elements(until: end, depth: depth + 1), !children.isEmpty {
                tree.children = children
                tree.content = isBitString ? [0] : []
                tree.isComposite = true
                return
            }
        }
        position = end
        tree.content = Array(bytes[start..<end])
    }
}
