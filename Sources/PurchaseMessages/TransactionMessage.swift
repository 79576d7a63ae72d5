/// A purchase as the App Store states it, and its owner. Times are RFC 3339 in UTC.
public struct TransactionMessage: Codable, Sendable, Equatable {
    public var transactionID: String
    public var originalTransactionID: String
    public var productID: String
    /// Absent if the settings do not agree with the evidence.
    public var productType: ProductType?
    public var environment: EnvironmentName
    public var quantity: Int64?
    /// The owner.
    public var customerID: String?
    /// The order that it paid.
    public var orderID: String?
    public var purchasedAt: String?
    /// When the paid period ends.
    public var expiresAt: String?
    /// The refund, revocation or cancellation.
    public var withdrawal: WithdrawalMessage?
    /// When an upgrade replaced it.
    public var upgradedAt: String?
    /// The price charged, in thousandths of the currency, as the App Store states it.
    public var price: Int64?
    /// ISO 4217.
    public var currency: String?
    public var offer: OfferMessage?
    /// Whether the customer has it through Family Sharing.
    public var familyShared: Bool?
    /// The seats that the transaction has left, without those that were refunded; only for the purchaser of a
    /// subscription that is sold by the seat.
    public var seats: Int64?
    /// The rule that gave it its owner.
    public var ownerReason: OwnerReason?
    /// When the ledger first knew of it.
    public var knownAt: String?
    /// What the App Store signed about the renewal after this period; only for auto-renewable subscriptions, and absent
    /// if nothing was signed about it.
    public var renewal: RenewalMessage?

    public init(
        transactionID: String, originalTransactionID: String, productID: String, productType: ProductType? = nil,
        environment: EnvironmentName, quantity: Int64? = nil, customerID: String? = nil, orderID: String? = nil,
        purchasedAt: String? = nil, expiresAt: String? = nil, withdrawal: WithdrawalMessage? = nil,
        upgradedAt: String? = nil, price: Int64? = nil, currency: String? = nil, offer: OfferMessage? = nil,
        familyShared: Bool? = nil, seats: Int64? = nil, ownerReason: OwnerReason? = nil, knownAt: String? = nil,
        renewal: RenewalMessage? = nil
    ) {
        (self.transactionID, self.originalTransactionID) = (transactionID, originalTransactionID)
        (self.productID, self.productType, self.environment) = (productID, productType, environment)
        (self.quantity, self.customerID, self.orderID, self.purchasedAt) = (quantity, customerID, orderID, purchasedAt)
        (self.expiresAt, self.withdrawal, self.upgradedAt, self.price) = (expiresAt, withdrawal, upgradedAt, price)
        (self.currency, self.offer, self.familyShared, self.seats) = (currency, offer, familyShared, seats)
        (self.ownerReason, self.knownAt, self.renewal) = (ownerReason, knownAt, renewal)
    }

    enum CodingKeys: String, CodingKey {
        case environment, quantity, withdrawal, price, currency, offer, renewal, seats
        case transactionID = "transaction_id"
        case originalTransactionID = "original_transaction_id"
        case productID = "product_id"
        case productType = "product_type"
        case customerID = "customer_id"
        case orderID = "order_id"
        case purchasedAt = "purchased_at"
        case expiresAt = "expires_at"
        case upgradedAt = "upgraded_at"
        case familyShared = "family_shared"
        case ownerReason = "owner_reason"
        case knownAt = "known_at"
    }
}

extension TransactionMessage {
    /// The rule that determined the owner of a purchase.
    public struct OwnerReason: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// It carries the customer's account token.
        public static let accountToken = OwnerReason(rawValue: "account_token")
        /// An earlier transaction of the same original carries it.
        public static let inheritedToken = OwnerReason(rawValue: "inherited_token")
        /// The customer claimed it first.
        public static let claim = OwnerReason(rawValue: "claim")
        /// The customer claimed it, and the app's policy transfers purchases.
        public static let transfer = OwnerReason(rawValue: "transfer")
        /// An operator transferred it.
        public static let operatorMove = OwnerReason(rawValue: "operator_move")
        /// Its owner was merged into the customer.
        public static let merge = OwnerReason(rawValue: "merge")
    }
}

/// The App Store withdrew a purchase: a refund, a revocation or a cancellation.
public struct WithdrawalMessage: Codable, Sendable, Equatable {
    /// From when on.
    public var at: String
    /// The number of withdrawn units.
    public var units: Int64
    public var reason: Reason

    public init(at: String, units: Int64, reason: Reason) { (self.at, self.units, self.reason) = (at, units, reason) }

    enum CodingKeys: String, CodingKey {
        case at, units, reason
    }
}

extension WithdrawalMessage {
    /// The evidence that proves it.
    public struct Reason: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// The cancellation date of a receipt.
        public static let cancelled = Reason(rawValue: "cancelled")
        /// The revocation of a signed transaction.
        public static let revoked = Reason(rawValue: "revoked")
    }
}
