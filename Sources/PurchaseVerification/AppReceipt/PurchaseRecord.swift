/// One purchase, as offsets and numbers. It has at most 128 bytes, because a receipt may have thousands of them.
struct PurchaseRecord: Sendable {
    /// The content of the purchase's own SET.
    let range: CompactRange
    /// The attributes that have a value: bit n is attribute 1700 + n.
    private var present: UInt64 = 0
    private(set) var productID = CompactRange.absent
    private(set) var transactionID = CompactRange.absent
    private(set) var originalTransactionID = CompactRange.absent
    private(set) var promotionalOfferID = CompactRange.absent
    private var quantityNumber: UInt64 = 0
    private var productTypeNumber: UInt64 = 0
    private var webOrderLineItemNumber: UInt64 = 0
    private var productAdamNumber: UInt64 = 0
    private var ownershipNumber: UInt64 = 0
    private var purchaseMoment = AppStoreTime(millisecondsSince1970: 0)
    private var originalPurchaseMoment = AppStoreTime(millisecondsSince1970: 0)
    private var expiresMoment = AppStoreTime(millisecondsSince1970: 0)
    private var cancellationMoment = AppStoreTime(millisecondsSince1970: 0)
    private var trialPeriodFlag = false
    private var introOfferPeriodFlag = false

    var quantity: UInt64? { has(ReceiptAttributeType.quantity) ? quantityNumber : nil }
    var productType: UInt64? { has(ReceiptAttributeType.productType) ? productTypeNumber : nil }
    var webOrderLineItemID: UInt64? { has(ReceiptAttributeType.webOrderLineItemID) ? webOrderLineItemNumber : nil }
    var productAdamID: UInt64? { has(ReceiptAttributeType.productAdamID) ? productAdamNumber : nil }
    var ownershipType: UInt64? { has(ReceiptAttributeType.ownershipType) ? ownershipNumber : nil }
    var purchaseDate: AppStoreTime? { has(ReceiptAttributeType.purchaseDate) ? purchaseMoment : nil }
    var originalPurchaseDate: AppStoreTime? {
        has(ReceiptAttributeType.purchaseOriginalPurchaseDate) ? originalPurchaseMoment : nil
    }
    var expiresDate: AppStoreTime? { has(ReceiptAttributeType.expiresDate) ? expiresMoment : nil }
    var cancellationDate: AppStoreTime? { has(ReceiptAttributeType.cancellationDate) ? cancellationMoment : nil }
    var isTrialPeriod: Bool? { has(ReceiptAttributeType.isTrialPeriod) ? trialPeriodFlag : nil }
    var isInIntroOfferPeriod: Bool? { has(ReceiptAttributeType.isInIntroOfferPeriod) ? introOfferPeriodFlag : nil }

    /// - Parameter value: the value of an attribute 17.
    @inline(__always)
    init(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) {
        if let purchase = Self.usual(bytes.bytes, value) {
            self = purchase
        } else {
            self = try Self.any(bytes, value)
        }
    }

    private init(range: Range<Int>) { self.range = CompactRange(range) }

    @inline(__always)
    private func has(_ type: Int64) -> Bool { present & Self.bit(type) != 0 }

    @inline(__always)
    private static func bit(_ type: Int64) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: type &- firstType) }

    /// Apple's attributes of purchases begin at 1701.
    private static let firstType: Int64 = 1700
}

/// The fast path: a purchase whose attributes are all in the form that Apple writes.
extension PurchaseRecord {
    /// The purchase, if its encoding is the usual one in every respect; `any` reads all others from the start,
    /// including malformed ones.
    @inline(never)
    private static func usual(_ bytes: RawSpan, _ value: Range<Int>) -> PurchaseRecord? {
        // 31 82 LL LL: a SET of 256 bytes or more that takes up the whole value.
        let start = value.lowerBound &+ 4
        let end = value.upperBound
        // All loads begin before the end and reach less than 16 bytes beyond it, so this is their only check.
        guard value.lowerBound >= 0, start <= end, end &+ 16 <= bytes.byteCount else { return nil }
        let header = UInt32(
            bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: value.lowerBound, as: UInt32.self))
        guard header >> 16 == 0x3182, header & 0xFFFF >= 0x100, Int(header & 0xFFFF) == end &- start else { return nil }
        var purchase = PurchaseRecord(range: start..<end)
        var seen: UInt64 = 0
        var position = start
        while position < end {
            guard let attribute = UsualAttribute(bytes, position, end: end), seen & attribute.bit == 0,
                purchase.take(attribute, bytes)
            else { return nil }
            seen |= attribute.bit
            position = attribute.end
        }
        // The slow path refuses a purchase without an identifier, with a description.
        guard purchase.isNamed else { return nil }
        return purchase
    }

    fileprivate var isNamed: Bool {
        productID.range?.isEmpty == false && transactionID.range?.isEmpty == false
    }

    /// Stores an attribute, and returns whether its value has the usual form.
    @inline(__always)
    private mutating func take(_ attribute: UsualAttribute, _ bytes: RawSpan) -> Bool {
        switch attribute.type {
        case ReceiptAttributeType.quantity: return attribute.number(bytes, &quantityNumber, &present)
        case ReceiptAttributeType.productID: return attribute.text(bytes, &productID)
        case ReceiptAttributeType.transactionID: return attribute.text(bytes, &transactionID)
        case ReceiptAttributeType.purchaseDate: return attribute.date(bytes, &purchaseMoment, &present)
        case ReceiptAttributeType.originalTransactionID: return attribute.text(bytes, &originalTransactionID)
        case ReceiptAttributeType.purchaseOriginalPurchaseDate:
            return attribute.date(bytes, &originalPurchaseMoment, &present)
        case ReceiptAttributeType.productType: return attribute.number(bytes, &productTypeNumber, &present)
        case ReceiptAttributeType.expiresDate: return attribute.date(bytes, &expiresMoment, &present)
        case ReceiptAttributeType.productAdamID: return attribute.number(bytes, &productAdamNumber, &present)
        case ReceiptAttributeType.webOrderLineItemID: return attribute.number(bytes, &webOrderLineItemNumber, &present)
        case ReceiptAttributeType.cancellationDate: return attribute.date(bytes, &cancellationMoment, &present)
        case ReceiptAttributeType.isTrialPeriod: return attribute.flag(bytes, &trialPeriodFlag, &present)
        case ReceiptAttributeType.isInIntroOfferPeriod: return attribute.flag(bytes, &introOfferPeriodFlag, &present)
        case ReceiptAttributeType.promotionalOfferID: return attribute.text(bytes, &promotionalOfferID)
        case ReceiptAttributeType.ownershipType: return attribute.number(bytes, &ownershipNumber, &present)
        default: return true
        }
    }

    /// An attribute of the form `30 LL 02 02 06 TT 02 01 VV 04 LL …`, shorter than 128 bytes: offsets, recognised by
    /// two loads. The offset of its value's content is right only if the value is a DER element with a short header.
    private struct UsualAttribute {
        let type: Int64
        let bit: UInt64
        let end: Int
        private let content: Int
        private let count: Int
        private let tag: UInt8
        private let isElement: Bool

        @inline(__always)
        init?(_ bytes: RawSpan, _ start: Int, end limit: Int) {
            let first = UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
            let second = UInt64(
                littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start &+ 8, as: UInt64.self))
            let length = Int(truncatingIfNeeded: first >> 8 & 0xFF)
            let valueLength = Int(truncatingIfNeeded: second >> 16 & 0xFF)
            // The lower byte of the type, counted from that of 1700: two bytes beginning with 6 are minimal.
            let index = (first >> 40 & 0xFF) &- 0xA4
            guard first & 0xFFFF_00FF_FFFF_80FF == 0x0102_0006_0202_0030, second & 0xFF80 == 0x0400,
                valueLength &+ 9 == length, index < 64, start &+ 2 &+ length <= limit
            else { return nil }
            type = firstType &+ Int64(truncatingIfNeeded: index)
            bit = 1 &<< index
            end = start &+ 2 &+ length
            content = start &+ 13
            tag = UInt8(truncatingIfNeeded: second >> 24)
            count = Int(truncatingIfNeeded: second >> 32 & 0xFF)
            isElement = count &+ 2 == valueLength
        }

        @inline(__always)
        func text(_ bytes: RawSpan, _ text: inout CompactRange) -> Bool {
            guard tag == DERTag.utf8String, isElement, bytes.isASCII(unchecked: content, count: count) else {
                return false
            }
            text = CompactRange(content..<end)
            return true
        }

        @inline(__always)
        func date(_ bytes: RawSpan, _ date: inout AppStoreTime, _ present: inout UInt64) -> Bool {
            guard tag == DERTag.ia5String, isElement else { return false }
            // An empty string is a date that does not apply.
            if count == 0 { return true }
            guard count == 20, let moment = ReceiptDate.readUTCSeconds(unchecked: bytes, content) else { return false }
            date = moment
            present |= bit
            return true
        }

        @inline(__always)
        func number(_ bytes: RawSpan, _ number: inout UInt64, _ present: inout UInt64) -> Bool {
            guard tag == DERTag.integer, isElement,
                let value = DERInteger.shortUInt64(unchecked: bytes, content, count: count)
            else { return false }
            number = value
            present |= bit
            return true
        }

        @inline(__always)
        func flag(_ bytes: RawSpan, _ flag: inout Bool, _ present: inout UInt64) -> Bool {
            var value: UInt64 = 0
            guard number(bytes, &value, &present) else { return false }
            flag = value != 0
            return true
        }
    }
}

/// The slow path: the rules.
extension PurchaseRecord {
    @inline(never)
    private static func any(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) -> PurchaseRecord {
        var outer = DERCursor(value)
        let set = try outer.next(DERTag.set, bytes).content
        try outer.finish()
        var purchase = PurchaseRecord(range: set)
        var seen = SeenAttributes()
        var count = 0
        var cursor = DERCursor(set)
        while !cursor.isAtEnd {
            count += 1
            guard count <= VerificationBudget.attributes else {
                throw VerificationError(
                    .tooManyAttributes, expected: "at most \(VerificationBudget.attributes) in a purchase",
                    found: "more")
            }
            let attribute = try ReceiptAttributeElement(bytes, &cursor)
            try seen.insert(attribute.type)
            try purchase.read(bytes, attribute)
        }
        // A purchase that cannot be named can be neither granted nor refused twice.
        guard purchase.productID.range?.isEmpty == false else {
            throw VerificationError(.attributeMissing, expected: "a product id (attribute 1702)")
        }
        guard purchase.transactionID.range?.isEmpty == false else {
            throw VerificationError(.attributeMissing, expected: "a transaction id (attribute 1703)")
        }
        return purchase
    }

    private mutating func read(
        _ bytes: Span<UInt8>, _ attribute: ReceiptAttributeElement
    ) throws(VerificationError) {
        let reader = ReceiptAttributeReader(type: attribute.type)
        let value = attribute.value
        switch attribute.type {
        case ReceiptAttributeType.productID: productID = try reader.text(bytes, value)
        case ReceiptAttributeType.transactionID: transactionID = try reader.text(bytes, value)
        case ReceiptAttributeType.originalTransactionID: originalTransactionID = try reader.text(bytes, value)
        case ReceiptAttributeType.promotionalOfferID: promotionalOfferID = try reader.text(bytes, value)
        case ReceiptAttributeType.purchaseDate: keep(try reader.date(bytes, value), attribute, \.purchaseMoment)
        case ReceiptAttributeType.purchaseOriginalPurchaseDate:
            keep(try reader.date(bytes, value), attribute, \.originalPurchaseMoment)
        case ReceiptAttributeType.expiresDate: keep(try reader.date(bytes, value), attribute, \.expiresMoment)
        case ReceiptAttributeType.cancellationDate:
            keep(try reader.date(bytes, value), attribute, \.cancellationMoment)
        case ReceiptAttributeType.quantity: keep(try reader.unsigned(bytes, value), attribute, \.quantityNumber)
        case ReceiptAttributeType.productType:
            keep(try reader.unsigned(bytes, value), attribute, \.productTypeNumber)
        case ReceiptAttributeType.productAdamID:
            keep(try reader.unsigned(bytes, value), attribute, \.productAdamNumber)
        case ReceiptAttributeType.webOrderLineItemID:
            keep(try reader.unsigned(bytes, value), attribute, \.webOrderLineItemNumber)
        case ReceiptAttributeType.ownershipType:
            keep(try reader.unsigned(bytes, value), attribute, \.ownershipNumber)
        case ReceiptAttributeType.isTrialPeriod:
            keep(try reader.unsigned(bytes, value) != 0, attribute, \.trialPeriodFlag)
        case ReceiptAttributeType.isInIntroOfferPeriod:
            keep(try reader.unsigned(bytes, value) != 0, attribute, \.introOfferPeriodFlag)
        default: break
        }
    }

    /// Stores a value and marks it as present; an empty date counts as absent.
    private mutating func keep<Value>(
        _ value: Value?, _ attribute: ReceiptAttributeElement, _ field: WritableKeyPath<PurchaseRecord, Value>
    ) {
        guard let value else { return }
        self[keyPath: field] = value
        present |= Self.bit(attribute.type)
    }
}
