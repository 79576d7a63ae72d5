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
    static let cancellationReason: Int64 = 1720
    static let promotionalOfferID: Int64 = 1721
    static let ownershipType: Int64 = 1722
}
