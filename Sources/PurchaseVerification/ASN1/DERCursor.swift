/// A walk over the elements between two offsets of some bytes.
///
/// It allocates nothing and holds no bytes: the caller passes the same span at each step. Everything is checked before
/// it is read: no length of the input can lead outside the bytes, and no step goes back.
struct DERCursor {
    private(set) var position: Int
    let end: Int

    /// A cursor over a part of the bytes; a part that is out of range is empty to `next`.
    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position >= end }

    /// The tag of the next element, or `nil` at the end.
    func peek(_ bytes: Span<UInt8>) -> UInt8? {
        position < end && position < bytes.count ? bytes[position] : nil
    }

    /// The next element, with any tag.
    @inline(__always)
    mutating func next(_ bytes: Span<UInt8>) throws(VerificationError) -> DERElement {
        let start = position
        let end = Swift.min(self.end, bytes.count)
        guard start >= 0, end - start >= 2 else { throw VerificationError(.asn1Truncated) }
        let tag = bytes[start]
        guard tag & 0x1F != 0x1F else {
            throw VerificationError(.asn1Malformed, expected: "a tag number below 31", found: "a longer one")
        }
        var length = Int(bytes[start + 1])
        var contentStart = start + 2
        if length == 0x82, end - start >= 4, bytes[start + 2] != 0 {
            length = Int(bytes[start + 2]) << 8 | Int(bytes[start + 3])
            contentStart = start + 4
        } else if length >= 0x80 {
            (length, contentStart) = try Self.longLength(bytes, at: start, end: end)
        }
        guard length <= end - contentStart else {
            throw VerificationError(
                .asn1Truncated, expected: "\(length) more bytes", found: "\(end - contentStart)")
        }
        position = contentStart + length
        return DERElement(tag: tag, start: start, content: contentStart..<(contentStart + length))
    }

    /// The next element, which must have this tag.
    @inline(__always)
    mutating func next(_ tag: UInt8, _ bytes: Span<UInt8>) throws(VerificationError) -> DERElement {
        let element = try next(bytes)
        guard element.tag == tag else {
            throw Self.unexpectedTag(element.tag, expected: tag)
        }
        return element
    }

    /// The next element if it has this tag; otherwise the cursor stays.
    mutating func nextIf(_ tag: UInt8, _ bytes: Span<UInt8>) throws(VerificationError) -> DERElement? {
        guard peek(bytes) == tag else { return nil }
        return try next(bytes)
    }

    /// Skips an element that the caller has already recognised and checked.
    @inline(__always)
    mutating func skip(to position: Int) {
        self.position = position
    }

    /// Confirms that nothing follows.
    @inline(__always)
    func finish() throws(VerificationError) {
        guard isAtEnd else {
            throw VerificationError(.trailingBytes, expected: "the end", found: "\(end - position) more bytes")
        }
    }

    /// A length of more than one byte (X.690, 8.1.3.5): in DER it is definite and minimal (10.1).
    @inline(never)
    private static func longLength(
        _ bytes: Span<UInt8>, at start: Int, end: Int
    ) throws(VerificationError) -> (length: Int, contentStart: Int) {
        let count = Int(bytes[start + 1] & 0x7F)
        guard count != 0 else { throw BERTranscoder.indefiniteLength }
        // Four bytes count 4 GB, far beyond any budget.
        guard count <= 4 else {
            throw VerificationError(.asn1Malformed, expected: "a length of 4 bytes or fewer", found: "\(count)")
        }
        let contentStart = start + 2 + count
        guard contentStart <= end else { throw VerificationError(.asn1Truncated) }
        var length = 0
        for offset in (start + 2)..<contentStart {
            length = length << 8 | Int(bytes[offset])
        }
        guard length >= 0x80, bytes[start + 2] != 0 else {
            throw VerificationError(.asn1LengthNotMinimal, found: "length \(length) in \(count) bytes")
        }
        return (length, contentStart)
    }

    @inline(never)
    static func unexpectedTag(_ tag: UInt8, expected: UInt8) -> VerificationError {
        if expected == DERTag.octetString, tag == DERTag.constructedOctetString {
            return BERTranscoder.constructedString
        }
        return VerificationError(.asn1Malformed, expected: "tag \(hexByte(expected))", found: "tag \(hexByte(tag))")
    }
}

/// Two hexadecimal digits.
func hexByte(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.utf8.count < 2 ? "0" + digits : digits
}

/// One element of DER: its tag and the position of its content. It owns no bytes.
struct DERElement {
    /// The identifier octet (X.690, 8.1.2): class, constructed bit and number. Receipts use no numbers above 30.
    let tag: UInt8
    /// The offset of the identifier octet.
    let start: Int
    /// The offsets of the content octets.
    let content: Range<Int>

    /// The element with its header.
    var whole: Range<Int> { start..<content.upperBound }
}

/// The identifier octets that receipts and certificates use.
enum DERTag {
    static let boolean: UInt8 = 0x01
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let utf8String: UInt8 = 0x0C
    static let printableString: UInt8 = 0x13
    static let teletexString: UInt8 = 0x14
    static let ia5String: UInt8 = 0x16
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let constructedOctetString: UInt8 = 0x24

    static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }
    static func contextPrimitive(_ number: UInt8) -> UInt8 { 0x80 | number }
}
