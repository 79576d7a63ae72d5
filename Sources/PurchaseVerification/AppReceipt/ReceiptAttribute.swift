/// The attribute types of an app receipt: of the receipt itself, and from 1701 on of one purchase
/// (docs/receipt-format.md).
///
/// The names state the meaning of an attribute; if only a part of a meaning is proven, the accessor says so.
enum ReceiptAttributeType {
    static let receiptType: Int64 = 0
    static let adamID: Int64 = 1
    static let bundleID: Int64 = 2
    static let applicationVersion: Int64 = 3
    static let opaqueValue: Int64 = 4
    static let deviceHash: Int64 = 5
    static let sentReceiptCreationDate: Int64 = 8
    static let ageRating: Int64 = 10
    static let sellerID: Int64 = 11
    static let creationDate: Int64 = 12
    static let downloadID: Int64 = 15
    static let versionExternalIdentifier: Int64 = 16
    static let inAppPurchase: Int64 = 17
    static let originalPurchaseDate: Int64 = 18
    static let originalApplicationVersion: Int64 = 19
    static let expirationDate: Int64 = 21
    static let store: Int64 = 25

    static let quantity: Int64 = 1701
    static let productID: Int64 = 1702
    static let transactionID: Int64 = 1703
    static let purchaseDate: Int64 = 1704
    static let originalTransactionID: Int64 = 1705
    static let purchaseOriginalPurchaseDate: Int64 = 1706
    static let productType: Int64 = 1707
    static let expiresDate: Int64 = 1708
    static let productAdamID: Int64 = 1710
    static let webOrderLineItemID: Int64 = 1711
    static let cancellationDate: Int64 = 1712
    static let isTrialPeriod: Int64 = 1713
    static let isInIntroOfferPeriod: Int64 = 1719
    static let promotionalOfferID: Int64 = 1721
    static let ownershipType: Int64 = 1722
}

/// ReceiptAttribute ::= SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING } (Apple, "Validating receipts on the
/// device"), as offsets.
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

/// An attribute of the receipt, unchanged, for callers that need more than the typed accessors.
public struct ReceiptAttribute: Sendable, Hashable {
    /// The attribute type; from 1701 on it belongs to a purchase.
    public let type: Int64
    /// The version that the receipt states for it.
    public let version: Int64
    /// The bytes of the value: a DER element for most types, raw bytes for 4 to 7.
    public let value: [UInt8]

    /// The decoded value, by its own encoding.
    public enum Content: Sendable {
        case text(String)
        case number(UInt64)
        case bytes([UInt8])
    }

    /// The value read by its own form: a string, a number, or bytes that are neither.
    public var content: Content {
        // The raw values could begin like a DER element by chance.
        guard !(4...7).contains(type) else { return .bytes(value) }
        let slice = value[...]
        let bytes = slice.span
        var cursor = DERCursor(0..<value.count)
        do throws(VerificationError) {
            let element = try cursor.next(bytes)
            try cursor.finish()
            switch element.tag {
            case DERTag.utf8String, DERTag.ia5String:
                guard bytes.extracting(element.content).isUTF8 else { break }
                return .text(String(decoding: value[element.content], as: UTF8.self))
            case DERTag.integer:
                guard let number = try DERInteger.uint64(bytes, element.content) else { break }
                return .number(number)
            default: break
            }
        } catch {
            // Not a DER element: then it is bytes.
        }
        return .bytes(value)
    }
}

extension ReceiptAttribute.Content: Equatable {
    /// Compares texts byte by byte.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): left.isSame(as: right)
        case (.number(let left), .number(let right)): left == right
        case (.bytes(let left), .bytes(let right)): left == right
        default: false
        }
    }
}
