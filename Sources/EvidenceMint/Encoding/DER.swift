/// Writes ASN.1 elements (X.690). It checks nothing, so that malformed bytes can be written on purpose.
enum DER {
    /// One element: tag, shortest definite length, content.
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [tag]
        bytes.reserveCapacity(content.count + 6)
        bytes += length(content.count)
        bytes += content
        return bytes
    }

    /// One element whose length takes one octet more than it needs: BER allows that, DER does not.
    static func paddedElement(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let shortest = length(content.count)
        let padded: [UInt8]
        if shortest.count == 1 {
            padded = [0x81] + shortest
        } else {
            padded = [shortest[0] + 1, 0x00] + shortest.dropFirst()
        }
        return [tag] + padded + content
    }

    /// One constructed element of indefinite length, closed by end-of-contents octets (X.690, 8.1.3.6).
    static func indefiniteElement(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag, 0x80] + content + [0x00, 0x00]
    }

    /// A SEQUENCE of elements that are encoded already.
    static func sequence(_ elements: [UInt8]...) -> [UInt8] { element(Tag.sequence, elements.flatMap { $0 }) }

    static func sequence(_ elements: [[UInt8]]) -> [UInt8] { element(Tag.sequence, elements.flatMap { $0 }) }

    /// A SET in the order given.
    static func set(_ elements: [[UInt8]]) -> [UInt8] { element(Tag.set, elements.flatMap { $0 }) }

    /// A SET OF in DER order: ascending, as unsigned octet strings (X.690, 11.6).
    static func sortedSet(_ elements: [[UInt8]]) -> [UInt8] { set(sorted(elements)) }

    static func sorted(_ elements: [[UInt8]]) -> [[UInt8]] {
        elements.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// A context-specific constructed element, as EXPLICIT tagging and IMPLICIT tagging of a constructed type write it.
    static func context(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { element(0xA0 | number, content) }

    /// A context-specific primitive element.
    static func primitiveContext(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
        element(0x80 | number, content)
    }

    static func integer(_ value: UInt64) -> [UInt8] {
        integer(magnitude: withUnsafeBytes(of: value.bigEndian) { Array($0) })
    }

    /// A non-negative INTEGER from its big-endian octets.
    static func integer(magnitude: [UInt8]) -> [UInt8] {
        var content = Array(magnitude.drop { $0 == 0 })
        if content.first.map({ $0 >= 0x80 }) ?? true { content.insert(0x00, at: 0) }
        return element(Tag.integer, content)
    }

    static func boolean(_ value: Bool) -> [UInt8] { element(Tag.boolean, [value ? 0xFF : 0x00]) }

    static func octetString(_ content: [UInt8]) -> [UInt8] { element(Tag.octetString, content) }

    /// A BIT STRING of whole octets.
    static func bitString(_ content: [UInt8]) -> [UInt8] { element(Tag.bitString, [0x00] + content) }

    static func utf8String(_ text: String) -> [UInt8] { element(Tag.utf8String, Array(text.utf8)) }

    static func printableString(_ text: String) -> [UInt8] { element(Tag.printableString, Array(text.utf8)) }

    static func ia5String(_ text: String) -> [UInt8] { element(Tag.ia5String, Array(text.utf8)) }

    static let null: [UInt8] = [0x05, 0x00]

    enum Tag {
        static let boolean: UInt8 = 0x01
        static let integer: UInt8 = 0x02
        static let bitString: UInt8 = 0x03
        static let octetString: UInt8 = 0x04
        static let objectIdentifier: UInt8 = 0x06
        static let utf8String: UInt8 = 0x0C
        static let printableString: UInt8 = 0x13
        static let ia5String: UInt8 = 0x16
        static let utcTime: UInt8 = 0x17
        static let generalizedTime: UInt8 = 0x18
        static let sequence: UInt8 = 0x30
        static let set: UInt8 = 0x31
        static let constructedOctetString: UInt8 = 0x24
    }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        let octets = withUnsafeBytes(of: UInt64(count).bigEndian) { Array($0.drop { $0 == 0 }) }
        return [0x80 | UInt8(octets.count)] + octets
    }
}

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
    var nextTag: UInt8? { position < end ? bytes[position] : nil }

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
