/// The signed content of an app receipt: a SET of attributes, read into offsets and numbers.
///
/// It keeps the bytes that it points into. Strings are created on access: a receipt of 187 purchases has over a
/// thousand, and most callers read a few (Benchmarks/README.md).
final class AppReceiptPayload: Sendable {
    /// The whole container, or the payload's own bytes if the container had to be rewritten.
    let bytes: [UInt8]
    /// The content of the SET.
    let range: Range<Int>
    let record: AppReceiptRecord
    let purchases: [PurchaseRecord]

    /// Reads all attributes, the purchases included.
    init(_ bytes: [UInt8], _ range: Range<Int>) throws(VerificationError) {
        self.bytes = bytes
        self.range = range
        do throws(VerificationError) {
            let slice = bytes[...]
            (record, purchases) = try Self.read(slice.span, range)
        } catch let error where error.code.isASN1 {
            // The signature has been verified: the receipt is not damaged but has unknown content.
            throw VerificationError(
                .attributeMalformed, expected: error.expected, found: error.found ?? error.code.sentence)
        }
    }

    private static func read(
        _ bytes: Span<UInt8>, _ range: Range<Int>
    ) throws(VerificationError) -> (AppReceiptRecord, [PurchaseRecord]) {
        var record = AppReceiptRecord()
        var purchases: [PurchaseRecord] = []
        // A purchase takes some 350 to 420 bytes, and never fewer than 64; this estimate cannot be driven beyond the
        // input.
        purchases.reserveCapacity(min(range.count / 320, VerificationBudget.purchases))
        var seen = SeenAttributes()
        var others = 0
        var cursor = DERCursor(range)
        while !cursor.isAtEnd {
            let attribute = try ReceiptAttributeElement(bytes, &cursor)
            if attribute.type == ReceiptAttributeType.inAppPurchase {
                guard purchases.count < VerificationBudget.purchases else {
                    throw VerificationError(
                        .tooManyPurchases, expected: "at most \(VerificationBudget.purchases)", found: "more")
                }
                purchases.append(try PurchaseRecord(bytes, attribute.value))
                continue
            }
            others += 1
            guard others <= VerificationBudget.attributes else {
                throw VerificationError(
                    .tooManyAttributes, expected: "at most \(VerificationBudget.attributes)", found: "more")
            }
            try seen.insert(attribute.type)
            try record.read(bytes, attribute)
        }
        return (record, purchases)
    }

    /// The creation date, the only fact that is needed before the signature is verified: it determines the time for the
    /// validity of the certificates, and nothing else.
    static func creationDate(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(VerificationError) -> AppStoreTime {
        var cursor = DERCursor(range)
        while !cursor.isAtEnd {
            let attribute: ReceiptAttributeElement
            do throws(VerificationError) {
                attribute = try ReceiptAttributeElement(bytes, &cursor)
            } catch {
                throw VerificationError(
                    .payloadMalformed, expected: error.expected, found: error.found ?? error.code.sentence)
            }
            guard attribute.type == ReceiptAttributeType.creationDate else { continue }
            do throws(VerificationError) {
                let date = try ReceiptAttributeReader(type: attribute.type).date(bytes, attribute.value)
                if let date { return date }
            } catch {
                throw VerificationError(.creationDateMissing, expected: "a date in attribute 12", found: error.found)
            }
            break
        }
        throw VerificationError(.creationDateMissing, expected: "a date in attribute 12", found: "none")
    }

    /// The position of the attributes in the signed content: inside a SET, which may be wrapped in one more OCTET
    /// STRING.
    static func attributes(_ bytes: Span<UInt8>, content: Range<Int>) throws(VerificationError) -> Range<Int> {
        var outer = DERCursor(content)
        if let wrapped = try outer.nextIf(DERTag.octetString, bytes) {
            try outer.finish()
            outer = DERCursor(wrapped.content)
        }
        guard outer.peek(bytes) == DERTag.set else {
            throw VerificationError(.payloadMalformed, expected: "a SET of attributes", found: "something else")
        }
        let attributes = try outer.next(bytes).content
        try outer.finish()
        return attributes
    }

    /// All attributes of the receipt itself, including purchases, unchanged.
    func attributes(in range: Range<Int>? = nil) -> [ReceiptAttribute] {
        let ownBytes = self.bytes[...]
        let bytes = ownBytes.span
        var result: [ReceiptAttribute] = []
        var cursor = DERCursor(range ?? self.range)
        do throws(VerificationError) {
            while !cursor.isAtEnd {
                let attribute = try ReceiptAttributeElement(bytes, &cursor)
                result.append(
                    ReceiptAttribute(
                        type: attribute.type, version: attribute.version, value: bytes.copy(attribute.value)))
            }
        } catch {
            // The initialiser read the same bytes with the same cursor; an error there would have thrown.
            return result
        }
        return result
    }
}

/// The attribute types found so far, in constant space: Apple's types are in two narrow ranges.
struct SeenAttributes {
    private var low: UInt64 = 0
    private var purchase: UInt64 = 0
    private var others: [Int64] = []

    @inline(__always)
    mutating func insert(_ type: Int64) throws(VerificationError) {
        let isNew: Bool
        if type >= 1700, type < 1764 {
            let bit: UInt64 = 1 << UInt64(type - 1700)
            isNew = purchase & bit == 0
            purchase |= bit
        } else if type >= 0, type < 64 {
            let bit: UInt64 = 1 << UInt64(type)
            isNew = low & bit == 0
            low |= bit
        } else {
            // Bounded by the budget of attributes.
            isNew = !others.contains(type)
            others.append(type)
        }
        guard isNew else {
            throw VerificationError(.attributeDuplicated, found: "attribute \(type) twice")
        }
    }
}
