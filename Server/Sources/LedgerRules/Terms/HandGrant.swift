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

/// An operator's revocation of a purchase or of a manual grant. It takes precedence over Apple's data, and ends only
/// when it is lifted.
public struct HandRevocation: Sendable, Hashable {
    /// The subject of the revocation.
    public var target: Target
    /// The time from which it is in force.
    public var from: Timestamp
    /// When it was lifted; `nil` if it is in force.
    public var liftedAt: Timestamp?

    /// The subjects that an operator can revoke.
    public enum Target: Sendable, Hashable {
        /// All transactions of one original transaction. For a subscription these are all of its periods.
        case purchase(OwnershipKey)
        /// A manual grant, by its journal entry.
        case grant(Int64)
    }

    /// Creates a revocation.
    public init(target: Target, from: Timestamp, liftedAt: Timestamp? = nil) {
        self.target = target
        self.from = from
        self.liftedAt = liftedAt
    }

    /// Whether it is in force at a time.
    public func isInForce(at moment: Timestamp) -> Bool { from <= moment && (liftedAt.map { moment < $0 } ?? true) }
}
