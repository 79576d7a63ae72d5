/// The parsed signed part of a transaction receipt: one purchase.
///
/// It is a class because it is passed around whole (docs/decisions.md, 6).
final class PurchaseInfo: Sendable {
    let list: PropertyList
    let purchaseDate: AppStoreTime
    let originalPurchaseDate: AppStoreTime?
    let expiresDate: AppStoreTime?
    let cancellationDate: AppStoreTime?
    let quantity: UInt64?
    let transactionID: String

    /// - Throws: `purchase_info_malformed`, `attribute_missing`, `creation_date_missing`.
    init(_ list: PropertyList) throws(VerificationError) {
        self.list = list
        guard let purchaseDate = try Self.date(list, "purchase-date", "purchase-date-ms") else {
            throw VerificationError(.creationDateMissing, expected: "purchase-date or purchase-date-ms")
        }
        self.purchaseDate = purchaseDate
        originalPurchaseDate = try Self.date(list, "original-purchase-date", "original-purchase-date-ms")
        // The name without a suffix has always been in milliseconds here; the formatted variants were added later.
        expiresDate = try Self.date(list, "expires-date-formatted", "expires-date")
        cancellationDate = try Self.date(list, "cancellation-date", "cancellation-date-ms")
        quantity = try list.value("quantity").map { range throws(VerificationError) in
            guard let number = list.number(range) else {
                throw VerificationError(
                    .purchaseInfoMalformed, expected: "a number as quantity", found: list.text(range))
            }
            return number
        }
        guard let transactionID = list.text("transaction-id"), !transactionID.isEmpty else {
            throw VerificationError(.attributeMissing, expected: "transaction-id")
        }
        guard let productID = list.value("product-id"), !productID.isEmpty else {
            throw VerificationError(.attributeMissing, expected: "product-id")
        }
        self.transactionID = transactionID
    }

    /// The purchase date. It is read alone before the signature is checked, for the validity of the certificates; it is
    /// compared with its formatted variant after the signature was verified.
    static func purchaseDate(_ list: PropertyList) throws(VerificationError) -> AppStoreTime {
        let bytes = list.bytes[...]
        if let range = list.value("purchase-date-ms"), let moment = milliseconds(bytes.span, range) { return moment }
        if let range = list.value("purchase-date"), let moment = GreenwichDate.read(bytes.span, range) { return moment }
        throw VerificationError(.creationDateMissing, expected: "purchase-date-ms or purchase-date")
    }

    private static func milliseconds(_ bytes: Span<UInt8>, _ range: Range<Int>) -> AppStoreTime? {
        guard let number = number(bytes, range), let milliseconds = Int64(exactly: number),
            milliseconds < VerificationBudget.latestMilliseconds
        else { return nil }
        return AppStoreTime(millisecondsSince1970: milliseconds)
    }

    /// A date that is written twice, as text and in milliseconds. If both are present, they must agree.
    private static func date(
        _ list: PropertyList, _ wordsKey: StaticString, _ millisecondsKey: StaticString
    ) throws(VerificationError) -> AppStoreTime? {
        let bytes = list.bytes[...]
        var inWords: AppStoreTime?
        if let range = list.value(wordsKey), !range.isEmpty {
            inWords = GreenwichDate.read(bytes.span, range)
            guard inWords != nil else { throw malformed(list, wordsKey, range) }
        }
        guard let range = list.value(millisecondsKey), !range.isEmpty else { return inWords }
        guard let moment = milliseconds(bytes.span, range) else { throw malformed(list, millisecondsKey, range) }
        // The text variant has no milliseconds.
        if let inWords, inWords.millisecondsSince1970 != moment.millisecondsSince1970 / 1000 * 1000 {
            throw VerificationError(
                .purchaseInfoMalformed, expected: "\(inWords) in \(millisecondsKey)", found: "\(moment)")
        }
        return moment
    }

    private static func malformed(
        _ list: PropertyList, _ key: StaticString, _ range: Range<Int>
    ) -> VerificationError {
        VerificationError(.purchaseInfoMalformed, expected: "a date as \(key)", found: list.text(range))
    }

    /// A whole number in decimal digits; `nil` for anything else.
    static func number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
        guard (1...19).contains(range.count) else { return nil }
        var number: UInt64 = 0
        for position in range {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + UInt64(digit)
        }
        return number
    }
}

extension PropertyList {
    /// A value that is a whole number; `nil` for anything else.
    func number(_ range: Range<Int>) -> UInt64? {
        let slice = bytes[...]
        return PurchaseInfo.number(slice.span, range)
    }
}

/// The dates of transaction receipts: `2012-06-29 13:42:12 Etc/GMT`.
enum GreenwichDate {
    static func read(_ bytes: Span<UInt8>, _ range: Range<Int>) -> AppStoreTime? {
        guard range.count == 27, range.lowerBound >= 0, range.upperBound <= bytes.count else { return nil }
        let (raw, start) = (bytes.bytes, range.lowerBound)
        let zone = UInt64(bigEndian: raw.unsafeLoadUnaligned(fromByteOffset: start + 19, as: UInt64.self))
        // " Etc/GMT"
        guard zone == 0x2045_7463_2F47_4D54 else { return nil }
        let first = UInt64(bigEndian: raw.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
        let second = UInt64(bigEndian: raw.unsafeLoadUnaligned(fromByteOffset: start + 8, as: UInt64.self))
        let third = UInt32(bigEndian: raw.unsafeLoadUnaligned(fromByteOffset: start + 16, as: UInt32.self))
        // RFC 3339 except for the letters around the time: the spaces become T and Z.
        return ReceiptDate.utcSeconds(first, second ^ 0x0000_7400_0000_0000, third ^ 0x0000_007A)
    }
}
