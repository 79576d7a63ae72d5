public import PurchaseVerification

/// A customer's access to one product in one environment at a time.
public struct ProductAccess: Sendable, Hashable {
    public var productID: ExactText
    public var environment: AppStoreEnvironment
    /// The kind that determines its rule; `nil` if neither the settings nor the evidence state one.
    public var kind: ProductKind?
    /// The reason why there is no access; `nil` if there is.
    public var denial: NoAccessReason?
    /// The start of the access, without a gap in one source; `nil` without access.
    public var since: Timestamp?
    /// When the access ends or ended; `nil` if it has no end, and before the start.
    public var until: Timestamp?
    /// Whether the access is a grace period of the App Store.
    public var isInGrace = false
    /// Whether the access is assumed, because the news of a renewal are only late.
    public var isAssumed = false
    /// Units of a consumable that are left.
    public var balance: Int64 = 0
    /// Units that were used and then refunded, or used from a purchase that now belongs to another customer.
    public var shortfall: Int64 = 0
    /// The transaction that gives it; `nil` for a manual grant.
    public var transaction: TransactionKey?

    /// Creates an access without content, for a reason.
    public init(
        productID: ExactText, environment: AppStoreEnvironment, kind: ProductKind?, denial: NoAccessReason?
    ) {
        self.productID = productID
        self.environment = environment
        self.kind = kind
        self.denial = denial
    }

    /// Whether the customer may use it.
    public var isActive: Bool { denial == nil }
}
