/// ReceiptAttribute ::= SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING } (Apple, "Validating receipts on
/// the device"), as offsets.
struct ReceiptAttributeElement {
    let type: Int64
    let version: Int64
    let value: Range<Int>

    @inline(__always)
    init(_ bytes: Span<UInt8>, _ cursor: inout DERCursor) throws(VerificationError) {
        if let attribute = Self.short(bytes, &cursor) {
            self = attribute
        } else {
            self = try Self.any(bytes, &cursor)
        }
    }

    /// An attribute in the usual encoding: shorter than 128 bytes, its type in one or two bytes, its version in one; or
    /// a purchase of 256 bytes or more. It is recognised with two loads and skipped as a whole; `any` reads all others,
    /// including malformed ones.
    @inline(__always)
    private static func short(_ bytes: Span<UInt8>, _ cursor: inout DERCursor) -> ReceiptAttributeElement? {
        let start = cursor.position
        // The shortest has 10 bytes; six more bytes are loaded, which are still in the container.
        guard start >= 0, start &+ 16 <= bytes.count else { return nil }
        let raw = bytes.bytes
        let first = UInt64(littleEndian: raw.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
        let second = UInt64(littleEndian: raw.unsafeLoadUnaligned(fromByteOffset: start &+ 8, as: UInt64.self))
        let type: Int64
        let version: Int64
        let valueLength: Int
        let valueStart: Int
        let end: Int
        if first & 0xFFFF_0080_FFFF_80FF == 0x0102_0000_0202_0030 {
            // 30 LL 02 02 TT TT 02 01 | VV 04 LL
            type = Int64(first >> 32 & 0xFF) << 8 | Int64(first >> 40 & 0xFF)
            version = Int64(second & 0xFF)
            guard second & 0xFF80 == 0x0400 else { return nil }
            (valueLength, valueStart, end) = (Int(second >> 16 & 0xFF), 11, 2 &+ Int(first >> 8 & 0xFF))
            // Two bytes for a value that fits in one are not DER.
            guard type >= 0x80 else { return nil }
        } else if first & 0x80FF_FF80_FFFF_80FF == 0x0001_0200_0102_0030 {
            // 30 LL 02 01 TT 02 01 VV | 04 LL
            type = Int64(first >> 32 & 0xFF)
            version = Int64(first >> 56 & 0xFF)
            guard second & 0xFF == 0x04 else { return nil }
            (valueLength, valueStart, end) = (Int(second >> 8 & 0xFF), 10, 2 &+ Int(first >> 8 & 0xFF))
        } else if first & 0xFFFF_FFFF_0000_FFFF == 0x0211_0102_0000_8230, second & 0xFFFF_80FF == 0x8204_0001 {
            // 30 82 LL LL 02 01 11 02 | 01 VV 04 82 LL LL
            type = ReceiptAttributeType.inAppPurchase
            version = Int64(second >> 8 & 0xFF)
            valueLength = Int(UInt16(truncatingIfNeeded: second >> 32).byteSwapped)
            (valueStart, end) = (14, 4 &+ Int(UInt16(truncatingIfNeeded: first >> 16).byteSwapped))
            // Two bytes for a value that fits in one are not DER; the outer length is larger than this one.
            guard valueLength >= 0x100 else { return nil }
        } else {
            return nil
        }
        guard valueStart &+ valueLength == end, start &+ end <= cursor.end else { return nil }
        cursor.skip(to: start &+ end)
        return ReceiptAttributeElement(
            type: type, version: version,
            value: start &+ valueStart..<start &+ end)
    }

    private init(type: Int64, version: Int64, value: Range<Int>) {
        self.type = type
        self.version = version
        self.value = value
    }

    @inline(never)
    private static func any(
        _ bytes: Span<UInt8>, _ cursor: inout DERCursor
    ) throws(VerificationError) -> ReceiptAttributeElement {
        var fields = DERCursor(try cursor.next(DERTag.sequence, bytes).content)
        let type = try DERInteger.int64(bytes, try fields.next(DERTag.integer, bytes).content)
        let version = try DERInteger.int64(bytes, try fields.next(DERTag.integer, bytes).content)
        let value = try fields.next(DERTag.octetString, bytes).content
        try fields.finish()
        guard let type, let version else {
            throw VerificationError(
                .attributeMalformed, expected: "type and version within 64 bits", found: "a longer one")
        }
        return ReceiptAttributeElement(type: type, version: version, value: value)
    }
}
