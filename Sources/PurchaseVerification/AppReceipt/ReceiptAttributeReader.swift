/// Reads the DER value inside an attribute.
///
/// Each kind of value has a fast path for Apple's encoding, and a slow path for every other: the slow path reads the
/// value again from its start, so that both accept and refuse the same.
struct ReceiptAttributeReader {
    let type: Int64

    /// The offsets of the characters of a text: a UTF8String, or an IA5String if Apple writes one.
    @inline(__always)
    func text(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) -> CompactRange {
        if let content = Self.shortContent(bytes, value, DERTag.utf8String), bytes.isASCII(content) {
            return CompactRange(content)
        }
        return try anyText(bytes, value)
    }

    /// A date; `nil` if the string is empty, as Apple writes a date that does not apply.
    @inline(__always)
    func date(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) -> AppStoreTime? {
        if let content = Self.shortContent(bytes, value, DERTag.ia5String) {
            if content.isEmpty { return nil }
            if let date = ReceiptDate.readUTCSeconds(bytes, content) { return date }
        }
        return try anyDate(bytes, value)
    }

    /// An identifier or a count.
    @inline(__always)
    func unsigned(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) -> UInt64 {
        if let content = Self.shortContent(bytes, value, DERTag.integer),
            let number = DERInteger.shortUInt64(bytes, content)
        {
            return number
        }
        return try anyUnsigned(bytes, value)
    }

    /// The content of an element that fills the value, with this tag and a length of one byte.
    @inline(__always)
    private static func shortContent(_ bytes: Span<UInt8>, _ value: Range<Int>, _ tag: UInt8) -> Range<Int>? {
        let count = value.upperBound &- value.lowerBound
        guard count >= 2, count < 0x82, value.upperBound <= bytes.count else { return nil }
        let header = UInt16(
            littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: value.lowerBound, as: UInt16.self))
        guard header == UInt16(tag) | UInt16(truncatingIfNeeded: count &- 2) &<< 8 else { return nil }
        return value.lowerBound &+ 2..<value.upperBound
    }

    @inline(never)
    private func anyText(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) -> CompactRange {
        let element = try only(bytes, value)
        let isASCII = bytes.isASCII(element.content)
        guard element.tag == DERTag.utf8String || (element.tag == DERTag.ia5String && isASCII) else {
            throw malformed("a string", "tag \(hexByte(element.tag))")
        }
        guard isASCII || bytes.extracting(element.content).isUTF8 else {
            throw malformed("a string", "other bytes")
        }
        return CompactRange(element.content)
    }

    @inline(never)
    private func anyDate(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) -> AppStoreTime? {
        let element = try only(bytes, value)
        guard element.tag == DERTag.ia5String || element.tag == DERTag.utf8String else {
            throw malformed("a date", "tag \(hexByte(element.tag))")
        }
        if element.content.isEmpty { return nil }
        guard let date = ReceiptDate.read(bytes, element.content) else {
            throw malformed("a date", String(decoding: bytes.copy(element.content).prefix(64), as: UTF8.self))
        }
        return date
    }

    @inline(never)
    private func anyUnsigned(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) -> UInt64 {
        let element = try only(bytes, value)
        guard element.tag == DERTag.integer else { throw malformed("an integer", "tag \(hexByte(element.tag))") }
        guard let number = try DERInteger.uint64(bytes, element.content) else {
            throw malformed("an integer from 0 to 2^64 - 1", "0x\(hexadecimal(bytes.copy(element.content).prefix(32)))")
        }
        return number
    }

    private func only(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) -> DERElement {
        var cursor = DERCursor(value)
        let element = try cursor.next(bytes)
        try cursor.finish()
        return element
    }

    private func malformed(_ expected: String, _ found: String) -> VerificationError {
        VerificationError(.attributeMalformed, expected: "\(expected) in attribute \(type)", found: found)
    }
}

extension Span where Element == UInt8 {
    /// Whether all bytes between the offsets are ASCII. The offsets must be in the span.
    @inline(__always)
    func isASCII(_ range: Range<Int>) -> Bool {
        let raw = bytes
        if range.lowerBound >= 0, range.upperBound &+ 8 <= raw.byteCount {
            return raw.isASCII(unchecked: range.lowerBound, count: range.count)
        }
        for offset in range where self[offset] >= 0x80 { return false }
        return true
    }
}

extension RawSpan {
    /// Whether a number of bytes from the offset are ASCII; the caller has checked that they and eight more are in the
    /// span.
    @inline(__always)
    func isASCII(unchecked start: Int, count: Int) -> Bool {
        var bits: UInt64 = 0
        var offset = start
        var rest = count
        while rest >= 8 {
            bits |= unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset &+= 8
            rest &-= 8
        }
        // The last load reaches past the bytes; the excess is shifted out, all of it if no byte is left.
        let last = UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
        bits |= (last &<< UInt64(truncatingIfNeeded: 56 &- 8 &* rest)) &<< 8
        return bits & 0x8080_8080_8080_8080 == 0
    }
}
