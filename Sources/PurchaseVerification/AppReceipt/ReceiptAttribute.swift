/// The attribute types of an app receipt: of the receipt itself, and from 1701 on of one purchase (docs/receipt-format.md).
///
/// The names say what an attribute means; where only part of a meaning is proven, the accessor says so.
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
        var fields = DERCursor(try cursor.next(DERTag.sequence, bytes).content)
        let type = try DERInteger.int64(bytes, try fields.next(DERTag.integer, bytes).content)
        let version = try DERInteger.int64(bytes, try fields.next(DERTag.integer, bytes).content)
        value = try fields.next(DERTag.octetString, bytes).content
        try fields.finish()
        guard let type, let version else {
            throw VerificationError(
                .attributeMalformed, expected: "type and version within 64 bits", found: "a longer one")
        }
        self.type = type
        self.version = version
    }
}

/// An attribute as it stands in the receipt, for whoever needs more than the typed accessors give.
public struct ReceiptAttribute: Sendable, Hashable {
    /// The attribute type; from 1701 on it belongs to a purchase.
    public let type: Int64
    /// The version that the receipt states for it.
    public let version: Int64
    /// The bytes of the value: a DER element of its own for most types, raw bytes for 4 to 7.
    public let value: [UInt8]

    /// What the value holds, judged by its own form.
    public enum Content: Sendable, Hashable {
        case text(String)
        case number(UInt64)
        case bytes([UInt8])
    }

    /// The value read by its own form: a string, a number, or bytes that are neither.
    public var content: Content {
        // The raw values could begin like a DER element by chance.
        guard !(4...7).contains(type) else { return .bytes(value) }
        let bytes = value.span
        var cursor = DERCursor(0..<value.count)
        do throws(VerificationError) {
            let element = try cursor.next(bytes)
            try cursor.finish()
            switch element.tag {
            case DERTag.utf8String, DERTag.ia5String:
                guard let text = String(validating: bytes.copy(element.content), as: UTF8.self) else { break }
                return .text(text)
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

/// Reads the DER value inside an attribute.
struct ReceiptAttributeReader {
    let type: Int64

    /// Text: a UTF8String, or an IA5String where Apple writes one. The offsets of its characters.
    func text(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) -> CompactRange {
        let element = try only(bytes, value)
        guard element.tag == DERTag.utf8String || element.tag == DERTag.ia5String else {
            throw malformed("a string", "tag \(hexByte(element.tag))")
        }
        guard Self.isText(bytes, element.content, isASCII: element.tag == DERTag.ia5String) else {
            throw malformed("a string", "bytes that are none")
        }
        return CompactRange(element.content)
    }

    /// A date; `nil` where the string is empty, as Apple writes a date that does not apply.
    func date(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) -> Timestamp? {
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

    /// An identifier or a count.
    func unsigned(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) -> UInt64 {
        let element = try only(bytes, value)
        guard element.tag == DERTag.integer else { throw malformed("an integer", "tag \(hexByte(element.tag))") }
        guard let number = try DERInteger.uint64(bytes, element.content) else {
            throw malformed("an integer from 0 to 2^64 - 1", "0x\(hexadecimal(bytes.copy(element.content).prefix(32)))")
        }
        return number
    }

    @inline(__always)
    private func only(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) -> DERElement {
        var cursor = DERCursor(value)
        let element = try cursor.next(bytes)
        try cursor.finish()
        return element
    }

    private func malformed(_ expected: String, _ found: String) -> VerificationError {
        VerificationError(.attributeMalformed, expected: "\(expected) in attribute \(type)", found: found)
    }

    /// Whether the bytes are UTF-8; ASCII, which nearly all are, is decided in one pass.
    private static func isText(_ bytes: Span<UInt8>, _ range: Range<Int>, isASCII: Bool) -> Bool {
        var bits: UInt8 = 0
        for offset in range { bits |= bytes[offset] }
        if bits < 0x80 { return true }
        return !isASCII && String(validating: bytes.copy(range), as: UTF8.self) != nil
    }
}

/// The offsets of a value in eight bytes, so that a purchase's record stays small. Offset 0 is never a value's: it means that
/// the attribute is absent.
struct CompactRange: Sendable {
    private let lowerBound: UInt32
    private let count: UInt32

    static let absent = CompactRange()

    private init() { (lowerBound, count) = (0, 0) }

    /// The evidence budget keeps offsets far below 2^32.
    init(_ range: Range<Int>) {
        lowerBound = UInt32(truncatingIfNeeded: range.lowerBound)
        count = UInt32(truncatingIfNeeded: range.count)
    }

    var range: Range<Int>? {
        lowerBound == 0 ? nil : Int(lowerBound)..<(Int(lowerBound) + Int(count))
    }
}
