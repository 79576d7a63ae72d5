// A purchase in an app receipt, verified and unverified, with the types of its attributes.

/// One purchase of a verified receipt.
public typealias InAppPurchase = InAppPurchaseContent<VerifiedContent>

/// One purchase, read from unverified bytes.
public typealias UnverifiedInAppPurchase = InAppPurchaseContent<UnverifiedContent>

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
    public var purchaseDate: AppStoreTime? { record.purchaseDate }

    /// When it was first bought (attribute 1706).
    public var originalPurchaseDate: AppStoreTime? { record.originalPurchaseDate }

    /// The kind of product (attribute 1707).
    public var productType: ProductType? { record.productType.map(ProductType.init(receiptNumber:)) }

    /// When the paid period ends; only for auto-renewable subscriptions (attribute 1708).
    public var expiresDate: AppStoreTime? { record.expiresDate }

    /// When Apple refunded or revoked the purchase, or an upgrade ended it (attribute 1712). A signed transaction tells
    /// these apart: `revocationDate`, `isUpgraded`.
    public var cancellationDate: AppStoreTime? { record.cancellationDate }

    /// The reason of the cancellation: 1 for a problem with the app, 0 for anything else (attribute 1720).
    ///
    /// Other verifiers read it so, but no receipt that was measured has the attribute. So it decides nothing, and any
    /// other value than an integer or a text of 0 or 1 beside a cancellation date is only in `attributes`.
    public var cancellationReason: UInt64? {
        guard cancellationDate != nil else { return nil }
        let values = attributes.filter { $0.type == ReceiptAttributeType.cancellationReason }
        guard let value = values.first, values.count == 1 else { return nil }
        return switch value.content {
        case .number(let number) where number <= 1: number
        case .text(let text) where text.isSame(as: "0") || text.isSame(as: "1"): UInt64(text)
        default: nil
        }
    }

    /// The App Store's number of the product; 0 in the sandbox (attribute 1710).
    public var productAppleID: UInt64? { record.productAdamID }

    /// The order line of a subscription period; 0 for other products (attribute 1711).
    public var webOrderLineItemID: String? { record.webOrderLineItemID.map { "\($0)" } }

    /// Whether the period is a free trial (attribute 1713).
    public var isTrialPeriod: Bool? { record.isTrialPeriod }

    /// Whether the period has an introductory price (attribute 1719).
    public var isInIntroOfferPeriod: Bool? { record.isInIntroOfferPeriod }

    /// The promotional offer or offer code that was used (attribute 1721).
    public var offerIdentifier: String? { payload.text(record.promotionalOfferID) }

    /// Whether it was bought or comes through Family Sharing (attribute 1722; absent before 2021).
    public var ownershipType: OwnershipType? { record.ownershipType.map(OwnershipType.init(receiptNumber:)) }

    /// Every attribute of the purchase, unchanged, known or not.
    public var attributes: [ReceiptAttribute] {
        record.range.range.map { payload.attributes(in: $0) } ?? []
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
