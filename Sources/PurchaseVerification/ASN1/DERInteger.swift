/// Integers of DER (X.690, 8.3 and 10): two's complement, big-endian, as short as they can be.
enum DERInteger {
    /// The value of an INTEGER's content octets, if it fits into 64 bits with its sign.
    @inline(__always)
    static func int64(_ bytes: Span<UInt8>, _ content: Range<Int>) throws(VerificationError) -> Int64? {
        try requireMinimal(bytes, content)
        guard content.count <= 8 else { return nil }
        var value: Int64 = bytes[content.lowerBound] & 0x80 == 0 ? 0 : -1
        for offset in content {
            value = value << 8 | Int64(bytes[offset])
        }
        return value
    }

    /// The value of an INTEGER that is not negative, if it fits into 64 bits without a sign.
    @inline(__always)
    static func uint64(_ bytes: Span<UInt8>, _ content: Range<Int>) throws(VerificationError) -> UInt64? {
        try requireMinimal(bytes, content)
        let first = bytes[content.lowerBound]
        guard first & 0x80 == 0, content.count <= 8 || (content.count == 9 && first == 0) else { return nil }
        var value: UInt64 = 0
        for offset in content {
            value = value << 8 | UInt64(bytes[offset])
        }
        return value
    }

    /// The value of a minimal, non-negative INTEGER of one to eight bytes; `nil` for any other.
    @inline(__always)
    static func shortUInt64(_ bytes: Span<UInt8>, _ content: Range<Int>) -> UInt64? {
        let count = content.upperBound &- content.lowerBound
        guard content.lowerBound >= 0, content.lowerBound &+ 8 <= bytes.count else { return nil }
        return shortUInt64(unchecked: bytes.bytes, content.lowerBound, count: count)
    }

    /// The same for a number of bytes from an offset; the caller has checked that eight bytes are in range.
    @inline(__always)
    static func shortUInt64(unchecked bytes: RawSpan, _ start: Int, count: Int) -> UInt64? {
        guard count >= 1, count <= 8 else { return nil }
        let loaded = UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
        // A set sign bit is a negative number; nine zero bits at the start are one byte too many.
        guard loaded &>> 63 == 0, count == 1 || loaded &>> 55 != 0 else { return nil }
        return loaded &>> UInt64(truncatingIfNeeded: 64 &- 8 &* count)
    }

    /// Refuses an empty integer and one whose first nine bits are equal.
    @inline(__always)
    static func requireMinimal(_ bytes: Span<UInt8>, _ content: Range<Int>) throws(VerificationError) {
        guard !content.isEmpty else {
            throw VerificationError(.asn1IntegerNotMinimal, found: "no bytes")
        }
        guard content.count > 1 else { return }
        let first = bytes[content.lowerBound]
        let signOfSecond = bytes[content.lowerBound + 1] & 0x80
        if (first == 0 && signOfSecond == 0) || (first == 0xFF && signOfSecond != 0) {
            throw VerificationError(.asn1IntegerNotMinimal, found: "a superfluous first byte")
        }
    }
}
