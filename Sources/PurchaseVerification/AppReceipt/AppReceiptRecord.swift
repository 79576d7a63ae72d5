/// The attributes of the receipt itself, as offsets and numbers.
struct AppReceiptRecord: Sendable {
    var receiptType = CompactRange.absent
    var bundleID = CompactRange.absent
    /// The whole DER value of the bundle id, which goes into the device hash.
    var bundleIDValue = CompactRange.absent
    var applicationVersion = CompactRange.absent
    var opaqueValue = CompactRange.absent
    var deviceHash = CompactRange.absent
    var originalApplicationVersion = CompactRange.absent
    var adamID: UInt64?
    var downloadID: UInt64?
    var versionExternalIdentifier: UInt64?
    var creationDate: Timestamp?
    var sentReceiptCreationDate: Timestamp?
    var originalPurchaseDate: Timestamp?
    var expirationDate: Timestamp?

    /// Takes in one attribute; a type without a meaning here stays where it is.
    mutating func read(
        _ bytes: Span<UInt8>, _ attribute: ReceiptAttributeElement
    ) throws(VerificationError) {
        let reader = ReceiptAttributeReader(type: attribute.type)
        let value = attribute.value
        switch attribute.type {
        case ReceiptAttributeType.receiptType: receiptType = try reader.text(bytes, value)
        case ReceiptAttributeType.adamID: adamID = try reader.unsigned(bytes, value)
        case ReceiptAttributeType.bundleID:
            bundleID = try reader.text(bytes, value)
            bundleIDValue = CompactRange(value)
        case ReceiptAttributeType.applicationVersion: applicationVersion = try reader.text(bytes, value)
        case ReceiptAttributeType.opaqueValue: opaqueValue = CompactRange(value)
        case ReceiptAttributeType.deviceHash: deviceHash = CompactRange(value)
        case ReceiptAttributeType.sentReceiptCreationDate: sentReceiptCreationDate = try reader.date(bytes, value)
        case ReceiptAttributeType.creationDate: creationDate = try reader.date(bytes, value)
        case ReceiptAttributeType.downloadID: downloadID = try reader.unsigned(bytes, value)
        case ReceiptAttributeType.versionExternalIdentifier:
            versionExternalIdentifier = try reader.unsigned(bytes, value)
        case ReceiptAttributeType.originalPurchaseDate: originalPurchaseDate = try reader.date(bytes, value)
        case ReceiptAttributeType.originalApplicationVersion:
            originalApplicationVersion = try reader.text(bytes, value)
        case ReceiptAttributeType.expirationDate: expirationDate = try reader.date(bytes, value)
        default: break
        }
    }
}

/// One purchase, as offsets and numbers.
struct PurchaseRecord: Sendable {
    /// The content of the purchase's own SET.
    let range: CompactRange
    private(set) var productID = CompactRange.absent
    private(set) var transactionID = CompactRange.absent
    private(set) var originalTransactionID = CompactRange.absent
    private(set) var promotionalOfferID = CompactRange.absent
    private(set) var quantity: UInt64?
    private(set) var productType: UInt64?
    private(set) var webOrderLineItemID: UInt64?
    private(set) var productAdamID: UInt64?
    private(set) var purchaseDate: Timestamp?
    private(set) var originalPurchaseDate: Timestamp?
    private(set) var expiresDate: Timestamp?
    private(set) var cancellationDate: Timestamp?
    private(set) var isTrialPeriod: Bool?
    private(set) var isInIntroOfferPeriod: Bool?
    private(set) var ownershipType: UInt64?

    /// - Parameter value: the value of an attribute 17.
    init(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(VerificationError) {
        var outer = DERCursor(value)
        let set = try outer.next(DERTag.set, bytes).content
        try outer.finish()
        range = CompactRange(set)
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
            try read(bytes, attribute)
        }
        // A purchase that cannot be named can be neither granted nor refused twice.
        guard productID.range?.isEmpty == false else {
            throw VerificationError(.attributeMissing, expected: "a product id (attribute 1702)")
        }
        guard transactionID.range?.isEmpty == false else {
            throw VerificationError(.attributeMissing, expected: "a transaction id (attribute 1703)")
        }
    }

    @inline(__always)
    private mutating func read(
        _ bytes: Span<UInt8>, _ attribute: ReceiptAttributeElement
    ) throws(VerificationError) {
        let reader = ReceiptAttributeReader(type: attribute.type)
        let value = attribute.value
        switch attribute.type {
        case ReceiptAttributeType.quantity: quantity = try reader.unsigned(bytes, value)
        case ReceiptAttributeType.productID: productID = try reader.text(bytes, value)
        case ReceiptAttributeType.transactionID: transactionID = try reader.text(bytes, value)
        case ReceiptAttributeType.purchaseDate: purchaseDate = try reader.date(bytes, value)
        case ReceiptAttributeType.originalTransactionID: originalTransactionID = try reader.text(bytes, value)
        case ReceiptAttributeType.purchaseOriginalPurchaseDate: originalPurchaseDate = try reader.date(bytes, value)
        case ReceiptAttributeType.productType: productType = try reader.unsigned(bytes, value)
        case ReceiptAttributeType.expiresDate: expiresDate = try reader.date(bytes, value)
        case ReceiptAttributeType.productAdamID: productAdamID = try reader.unsigned(bytes, value)
        case ReceiptAttributeType.webOrderLineItemID: webOrderLineItemID = try reader.unsigned(bytes, value)
        case ReceiptAttributeType.cancellationDate: cancellationDate = try reader.date(bytes, value)
        case ReceiptAttributeType.isTrialPeriod: isTrialPeriod = try reader.unsigned(bytes, value) != 0
        case ReceiptAttributeType.isInIntroOfferPeriod: isInIntroOfferPeriod = try reader.unsigned(bytes, value) != 0
        case ReceiptAttributeType.promotionalOfferID: promotionalOfferID = try reader.text(bytes, value)
        case ReceiptAttributeType.ownershipType: ownershipType = try reader.unsigned(bytes, value)
        default: break
        }
    }
}
