public import Foundation

/// The content of one in-app purchase of a receipt. Nothing is checked.
///
/// A field that is nil is omitted, unless its comment says that it is written as an empty text.
public struct PurchaseTemplate: Hashable, Sendable {
    /// 1701
    public var quantity: UInt64? = 1
    /// 1702
    public var productID: String?
    /// 1703
    public var transactionID: String?
    /// 1704, in whole seconds
    public var purchaseDate: Date?
    /// 1705
    public var originalTransactionID: String?
    /// 1706, in whole seconds
    public var originalPurchaseDate: Date?
    /// 1707
    public var productType: ProductType?
    /// 1708, in whole seconds. If it is nil, the text is empty, as Apple writes it for all products except
    /// subscriptions.
    public var expiresDate: Date?
    /// 1710: the number of the product in the App Store; 0 in the sandbox
    public var productAdamID: UInt64? = 0
    /// 1711: 0 for all but subscriptions
    public var webOrderLineItemID: UInt64? = 0
    /// 1712, in whole seconds: the date of the refund or revocation. If it is nil, the text is empty.
    public var cancellationDate: Date?
    /// 1713
    public var isTrialPeriod: Bool? = false
    /// 1719: only in auto-renewable subscriptions since 2018
    public var isInIntroOfferPeriod: Bool?
    /// 1721
    public var promotionalOfferID: String?
    /// 1722: only since 2021
    public var ownershipType: OwnershipType? = .purchased
    /// Whether 1709 and 1714 to 1718 are written, always as empty texts. Their meaning is unknown.
    public var hasEmptyAttributes = true
    /// Further attributes, after the others in the order `asGiven`.
    public var extraAttributes: [RawAttribute] = []
    /// The numbers of attributes to omit. It does not affect the extra ones.
    public var omitted: Set<Int> = []

    /// A purchase of an unknown type; it is its own original transaction.
    public init(productID: String, transactionID: String, purchaseDate: Date) {
        (self.productID, self.transactionID, self.purchaseDate) = (productID, transactionID, purchaseDate)
        originalTransactionID = transactionID
        originalPurchaseDate = purchaseDate
    }

    /// The kind of a product. The numbers were found by comparing receipts with the names of products.
    public struct ProductType: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt64

        public init(rawValue: UInt64) { self.rawValue = rawValue }

        /// Bought once and kept.
        public static let nonConsumable = ProductType(rawValue: 0)
        /// Used up.
        public static let consumable = ProductType(rawValue: 1)
        /// Ends, and is not renewed by the store.
        public static let nonRenewingSubscription = ProductType(rawValue: 2)
        /// Renewed by the store until it is cancelled.
        public static let autoRenewableSubscription = ProductType(rawValue: 3)
        /// Renewed by the store, and costs nothing.
        public static let freeSubscription = ProductType(rawValue: 4)
    }

    public struct OwnershipType: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt64

        public init(rawValue: UInt64) { self.rawValue = rawValue }

        /// `PURCHASED`
        public static let purchased = OwnershipType(rawValue: 0)
        /// `FAMILY_SHARED`
        public static let familyShared = OwnershipType(rawValue: 1)
    }
}

extension PurchaseTemplate {
    private init(_ productID: String, _ transactionID: String, _ purchaseDate: Date, _ type: ProductType) {
        self.init(productID: productID, transactionID: transactionID, purchaseDate: purchaseDate)
        productType = type
    }

    /// A product that is used up, such as coins.
    public static func consumable(
        productID: String, transactionID: String, purchaseDate: Date, quantity: UInt64 = 1
    ) -> PurchaseTemplate {
        var purchase = PurchaseTemplate(productID, transactionID, purchaseDate, .consumable)
        purchase.quantity = quantity
        return purchase
    }

    /// A product that is bought once and kept.
    public static func nonConsumable(productID: String, transactionID: String, purchaseDate: Date) -> PurchaseTemplate {
        PurchaseTemplate(productID, transactionID, purchaseDate, .nonConsumable)
    }

    /// A subscription that ends and is not renewed by the store. The receipt does not state when.
    public static func nonRenewingSubscription(
        productID: String, transactionID: String, purchaseDate: Date
    ) -> PurchaseTemplate {
        PurchaseTemplate(productID, transactionID, purchaseDate, .nonRenewingSubscription)
    }

    /// One period of an auto-renewable subscription.
    /// - Parameters:
    ///   - originalTransactionID: the transaction of the first period; nil means that this is the first.
    ///   - originalPurchaseDate: the purchase date of the first period; nil means that this is the first.
    ///   - webOrderLineItemID: the App Store's number of the period; nil takes a unique number.
    public static func subscription(
        productID: String, transactionID: String, originalTransactionID: String? = nil, purchaseDate: Date,
        originalPurchaseDate: Date? = nil, expiresDate: Date, webOrderLineItemID: UInt64? = nil,
        isTrialPeriod: Bool = false
    ) -> PurchaseTemplate {
        var purchase = PurchaseTemplate(productID, transactionID, purchaseDate, .autoRenewableSubscription)
        purchase.originalTransactionID = originalTransactionID ?? transactionID
        purchase.originalPurchaseDate = originalPurchaseDate ?? purchaseDate
        purchase.expiresDate = expiresDate
        purchase.webOrderLineItemID = webOrderLineItemID ?? lineItemID(of: transactionID)
        purchase.isTrialPeriod = isTrialPeriod
        purchase.isInIntroOfferPeriod = false
        return purchase
    }

    /// The transaction's own number, or a number of 15 digits derived from its text (FNV-1a).
    private static func lineItemID(of transactionID: String) -> UInt64 {
        if let number = UInt64(transactionID), number > 0 { return number }
        let hash = transactionID.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return 100_000_000_000_000 + hash % 900_000_000_000_000
    }

    /// The purchase with no more attributes than Xcode writes: 1701 to 1704, and 1708 and 1719 in a subscription.
    public var asXcodeWritesIt: PurchaseTemplate {
        var purchase = self
        purchase.omitted.formUnion([1705, 1706, 1707, 1710, 1711, 1712, 1713, 1722])
        if expiresDate == nil { purchase.omitted.insert(1708) }
        purchase.hasEmptyAttributes = false
        return purchase
    }
}

extension PurchaseTemplate {
    /// The whole attribute 17. The SET is in DER order, so these bytes determine the position of the purchase in a
    /// receipt.
    public var der: [UInt8] { RawAttribute(type: 17, value: value(order: .der)).der }

    /// The content of attribute 17.
    func value(order: AttributeOrder) -> [UInt8] { order.set(attributes) }

    private var attributes: [RawAttribute] {
        var list: [RawAttribute?] = [
            quantity.map { .integer(1701, $0) },
            productID.map { .utf8(1702, $0) },
            transactionID.map { .utf8(1703, $0) },
            purchaseDate.map { .ia5(1704, ReceiptDateStyle.plain($0)) },
            originalTransactionID.map { .utf8(1705, $0) },
            originalPurchaseDate.map { .ia5(1706, ReceiptDateStyle.plain($0)) },
            productType.map { .integer(1707, $0.rawValue) },
            .ia5(1708, expiresDate.map(ReceiptDateStyle.plain) ?? ""),
            hasEmptyAttributes ? .utf8(1709, "") : nil,
            productAdamID.map { .integer(1710, $0) },
            webOrderLineItemID.map { .integer(1711, $0) },
            .ia5(1712, cancellationDate.map(ReceiptDateStyle.plain) ?? ""),
            isTrialPeriod.map { .integer(1713, $0 ? 1 : 0) },
        ]
        if hasEmptyAttributes { list += (1714...1718).map { .utf8($0, "") } }
        list += [
            isInIntroOfferPeriod.map { .integer(1719, $0 ? 1 : 0) },
            promotionalOfferID.map { .utf8(1721, $0) },
            ownershipType.map { .integer(1722, $0.rawValue) },
        ]
        return list.compactMap(\.self).filter { !omitted.contains($0.type) } + extraAttributes
    }
}

/// One attribute of a receipt or of a purchase in it, any of them.
public struct RawAttribute: Hashable, Sendable {
    /// The number of the attribute, such as 2 for the bundle identifier.
    public var type: Int
    /// 1 for all that are known but number 4, which has 2.
    public var version: Int
    /// The content of the OCTET STRING: one DER value, or raw bytes in attributes 4 to 7.
    public var value: [UInt8]

    public init(type: Int, version: Int = 1, value: [UInt8]) {
        (self.type, self.version, self.value) = (type, version, value)
    }

    /// An attribute that holds a UTF8String.
    public static func utf8(_ type: Int, _ text: String) -> RawAttribute {
        RawAttribute(type: type, value: DER.utf8String(text))
    }

    /// An attribute that holds an IA5String, as dates and the age rating do.
    public static func ia5(_ type: Int, _ text: String) -> RawAttribute {
        RawAttribute(type: type, value: DER.ia5String(text))
    }

    /// An attribute that holds an INTEGER.
    public static func integer(_ type: Int, _ number: UInt64) -> RawAttribute {
        RawAttribute(type: type, value: DER.integer(number))
    }

    /// The whole element: SEQUENCE { type, version, OCTET STRING }.
    public var der: [UInt8] {
        DER.sequence(DER.integer(UInt64(max(0, type))), DER.integer(UInt64(max(0, version))), DER.octetString(value))
    }
}
