// A purchase in an app receipt, verified and unverified, with the types of its attributes.

/// One purchase of a verified receipt.
public typealias InAppPurchase = InAppPurchaseContent<Verified>

/// One purchase, read from unverified bytes.
public typealias UnverifiedInAppPurchase = InAppPurchaseContent<Unverified>

/// The content of one purchase in a receipt. The type parameter says whether it was verified; there is no public
/// initialiser.
public struct InAppPurchaseContent<Trust>: Sendable {
    private let payload: AppReceiptPayload
    private let record: PurchaseRecord

    fileprivate init(_ payload: AppReceiptPayload, _ record: PurchaseRecord) {
        self.payload = payload
        self.record = record
    }

    /// The quantity (attribute 1701).
    public var quantity: UInt64? { record.quantity }

    /// The product (attribute 1702).
    public var productID: String { payload.text(record.productID) ?? "" }

    /// The transaction (attribute 1703).
    public var transactionID: String { payload.text(record.transactionID) ?? "" }

    /// The first transaction of a subscription or of a restored product (attribute 1705).
    public var originalTransactionID: String? { payload.text(record.originalTransactionID) }

    /// When it was bought or renewed (attribute 1704).
    public var purchaseDate: Timestamp? { record.purchaseDate }

    /// When it was first bought (attribute 1706).
    public var originalPurchaseDate: Timestamp? { record.originalPurchaseDate }

    /// The kind of product (attribute 1707).
    public var productType: ProductType? { record.productType.map(ProductType.init(rawValue:)) }

    /// When the paid period ends; only for auto-renewable subscriptions (attribute 1708).
    public var expiresDate: Timestamp? { record.expiresDate }

    /// When Apple refunded or revoked the purchase (attribute 1712).
    public var cancellationDate: Timestamp? { record.cancellationDate }

    /// The App Store's number of the product; 0 in the sandbox (attribute 1710).
    public var productAdamID: UInt64? { record.productAdamID }

    /// The order line of a subscription period; 0 for other products (attribute 1711).
    public var webOrderLineItemID: UInt64? { record.webOrderLineItemID }

    /// Whether the period is a free trial (attribute 1713).
    public var isTrialPeriod: Bool? { record.isTrialPeriod }

    /// Whether the period has an introductory price (attribute 1719).
    public var isInIntroOfferPeriod: Bool? { record.isInIntroOfferPeriod }

    /// The promotional offer or offer code that was used (attribute 1721).
    public var promotionalOfferID: String? { payload.text(record.promotionalOfferID) }

    /// Whether it was bought or comes through Family Sharing (attribute 1722; absent before 2021).
    public var ownershipType: OwnershipType? { record.ownershipType.map(OwnershipType.init(rawValue:)) }

    /// Every attribute of the purchase, unchanged, known or not.
    public var attributes: [ReceiptAttribute] {
        record.range.range.map { payload.attributes(in: $0) } ?? []
    }
}

/// The kind of a product, as attribute 1707 numbers it; the numbering is inferred from names and periods of real purchases.
public enum ProductType: Sendable, Hashable {
    case nonConsumable
    case consumable
    case nonRenewingSubscription
    case autoRenewableSubscription
    case freeSubscription
    /// A number without a known meaning.
    case other(UInt64)

    /// The kind of a number.
    public init(rawValue: UInt64) {
        self =
            switch rawValue {
            case 0: .nonConsumable
            case 1: .consumable
            case 2: .nonRenewingSubscription
            case 3: .autoRenewableSubscription
            case 4: .freeSubscription
            default: .other(rawValue)
            }
    }
}

/// The type of ownership of a purchase (attribute 1722).
public enum OwnershipType: Sendable, Hashable {
    case purchased
    case familyShared
    /// A number without a known meaning.
    case other(UInt64)

    /// The owner of a number.
    public init(rawValue: UInt64) {
        self =
            switch rawValue {
            case 0: .purchased
            case 1: .familyShared
            default: .other(rawValue)
            }
    }
}

/// The purchases of a receipt, in its order; each is made when it is asked for.
public struct InAppPurchaseList<Trust>: RandomAccessCollection, Sendable {
    let payload: AppReceiptPayload

    public var startIndex: Int { 0 }
    public var endIndex: Int { payload.purchases.count }

    public subscript(position: Int) -> InAppPurchaseContent<Trust> {
        InAppPurchaseContent(payload, payload.purchases[position])
    }
}
