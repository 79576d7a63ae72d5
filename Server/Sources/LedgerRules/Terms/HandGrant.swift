public import PurchaseVerification

/// A product that an operator granted to a customer.
public struct HandGrant: Sendable, Hashable {
    /// The journal entry of the grant.
    public var entry: Int64
    public var customer: CustomerNumber
    public var productID: ExactText
    public var environment: AppStoreEnvironment
    public var kind: ProductKind
    /// The number of units; only for a consumable.
    public var quantity: Int64
    public var from: Timestamp
    /// When it ends; `nil` if it does not end.
    public var until: Timestamp?
    /// Whether an operator ended it.
    public var isLifted: Bool

    /// Creates a grant.
    public init(
        entry: Int64, customer: CustomerNumber, productID: ExactText, environment: AppStoreEnvironment,
        kind: ProductKind, quantity: Int64 = 1, from: Timestamp, until: Timestamp? = nil, isLifted: Bool = false
    ) {
        self.entry = entry
        self.customer = customer
        self.productID = productID
        self.environment = environment
        self.kind = kind
        self.quantity = quantity
        self.from = from
        self.until = until
        self.isLifted = isLifted
    }
}
