/// DER parsed into a tree, in which one thing can be changed and which can be written again. It expects well-formed
/// bytes made by a test, and shares no code with the module under test.
public struct DERTree: Sendable {
    public var tag: UInt8
    public var content: [UInt8]
    public var children: [DERTree]
    /// Written instead of the element, if a test needs bytes that no tree can produce.
    public var raw: [UInt8]?

    public init(tag: UInt8, content: [UInt8]) {
        self.tag = tag
        self.content = content
        children = []
    }

    public init(tag: UInt8, children: [DERTree]) {
        self.tag = tag
        content = []
        self.children = children
    }

    /// Parses one element.
    public init(_ bytes: [UInt8]) {
        self = Self.read(bytes[...]).tree
    }

    /// The element written again, with the shortest lengths.
    public var bytes: [UInt8] {
        if let raw { return raw }
        let content = tag & 0x20 == 0 ? content : children.flatMap(\.bytes)
        return [tag] + Self.length(content.count) + content
    }

    /// The element at a path of child numbers.
    public subscript(_ path: Int...) -> DERTree {
        get { path.reduce(self) { $0.children[$1] } }
        set { set(path[...], newValue) }
    }

    private mutating func set(_ path: ArraySlice<Int>, _ value: DERTree) {
        guard let first = path.first else { return self = value }
        children[first].set(path.dropFirst(), value)
    }

    public static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        var bytes: [UInt8] = []
        var rest = count
        while rest > 0 {
            bytes.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(bytes.count)] + bytes
    }

    private static func read(_ bytes: ArraySlice<UInt8>) -> (tree: DERTree, rest: ArraySlice<UInt8>) {
        let start = bytes.startIndex
        var contentStart = start + 2
        var count = Int(bytes[start + 1])
        if count >= 0x80 {
            contentStart += count & 0x7F
            count = bytes[(start + 2)..<contentStart].reduce(0) { $0 << 8 | Int($1) }
        }
        let content = bytes[contentStart..<(contentStart + count)]
        var tree = DERTree(tag: bytes[start], content: Array(content))
        if tree.tag & 0x20 != 0 {
            var rest = content
            while !rest.isEmpty {
                let (child, next) = read(rest)
                tree.children.append(child)
                rest = next
            }
        }
        return (tree, bytes[(contentStart + count)...])
    }
}
