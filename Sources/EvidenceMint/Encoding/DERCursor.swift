/// Steps over the elements of a certificate that this module wrote or was given: definite lengths only.
struct DERCursor {
    /// One element, and its position in the bytes that it was read from.
    struct Element {
        let tag: UInt8
        /// The offsets of tag, length and content together.
        let range: Range<Int>
        /// The offsets of the content alone.
        let content: Range<Int>
    }

    let bytes: [UInt8]
    private var position: Int
    private let end: Int

    init(_ bytes: [UInt8], within range: Range<Int>? = nil) {
        self.bytes = bytes
        position = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
    }

    /// The tag of the next element, or nil at the end.
    var nextTag: UInt8? {
        position < end ? bytes[position] : nil
    }

    /// Reads one element; nil if there is no complete one.
    mutating func next() -> Element? {
        guard end - position >= 2 else { return nil }
        let start = position
        let tag = bytes[start]
        var cursor = start + 2
        var length = Int(bytes[start + 1])
        if length >= 0x80 {
            let octets = length & 0x7F
            guard (1...4).contains(octets), end - cursor >= octets else { return nil }
            length = bytes[cursor..<cursor + octets].reduce(0) { $0 << 8 | Int($1) }
            cursor += octets
        }
        guard end - cursor >= length else { return nil }
        position = cursor + length
        return Element(tag: tag, range: start..<position, content: cursor..<position)
    }

    /// Reads one element with the given tag; nil if the tag differs.
    mutating func next(_ tag: UInt8) -> Element? {
        guard nextTag == tag else { return nil }
        return next()
    }
}
