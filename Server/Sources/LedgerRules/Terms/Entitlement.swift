public import PurchaseVerification

/// A customer's entitlement to a product in an environment at a time, and the reason.
public struct Entitlement: Sendable, Equatable {
    public var productID: String
    public var environment: AppStoreEnvironment
    public var productKind: ProductKind
    /// The state; only `active` entitles.
    public var state: State
    /// The reason why it is not active, or `inGrace`; `nil` for any other access.
    public var reason: NoAccessReason?
    /// Units of a consumable that can be used.
    public var balance: Int64
    /// Units that were used and then refunded, or used from a purchase that now belongs to another customer.
    public var shortfall: Int64
    /// The start of the access; `nil` if it is not active, and for a balance.
    public var since: Timestamp?
    /// The end, in the future or the past; `nil` if it has no end.
    public var until: Timestamp?
    /// The transaction that gives it; `nil` for a balance and a manual grant.
    public var transactionID: String?
    /// Whether the access is assumed until `until`, because the news of a renewal are only late.
    public var isAssumed = false
    /// The signed renewal info about the period that it rests on; only for auto-renewable subscriptions.
    public var renewal: RenewalStatement?
    /// The other shops that give it, by the names that the backend gave them; only if it is active.
    public var sources: [String] = []
    /// The manual grants, and the grounds of other shops, that give it.
    package var grantKeys: [Int64] = []
    /// Apple's reason of the revocation that withdrew it (`revocationReason`); `nil` if none is signed.
    public var cancelReason: Int64?
    /// When the newest data about the period that it rests on was signed; only for auto-renewable subscriptions.
    public var lastConfirmedAt: Timestamp?
    /// The seats of the period that it rests on; only for the purchaser of a subscription that is sold by the seat,
    /// while it is active.
    public var seats: Int64?

    package init(
        productID: String, environment: AppStoreEnvironment, productKind: ProductKind, state: State,
        reason: NoAccessReason?, balance: Int64 = 0, shortfall: Int64 = 0, until: Timestamp? = nil,
        transactionID: String? = nil
    ) {
        (self.productID, self.environment, self.productKind) = (productID, environment, productKind)
        (self.state, self.reason, self.balance, self.shortfall) = (state, reason, balance, shortfall)
        (self.until, self.transactionID) = (until, transactionID)
    }

    /// Whether it is a grace period of which only the start was signed, so that `until` is its latest possible end.
    public var isGraceEndUnknown: Bool { reason == .inGrace && renewal?.info.isGraceEndUnknown ?? false }

    /// The state.
    public enum State: String, Sendable, CaseIterable {
        case active
        /// The balance is used up.
        case consumed
        /// The paid time has ended.
        case expired
        /// Apple or an operator withdrew it.
        case withdrawn
        /// Another product of the subscription has taken its place.
        case upgraded
        /// It belongs to another customer.
        case moved
        /// It does not count: it begins later, or the settings do not include its product.
        case pending

        package init(_ reason: NoAccessReason?) {
            switch reason {
            case nil, .inGrace: self = .active
            case .expired, .billingRetry, .newsMissing, .periodUnknown: self = .expired
            case .revoked, .familyRevoked, .cancelled, .revokedByHand, .seatUnclaimed: self = .withdrawn
            case .upgraded, .superseded: self = .upgraded
            case .consumed: self = .consumed
            case .ownedByAnother, .held: self = .moved
            case .notStarted, .noSeat, .sandboxNotAccepted, .productUnknown, .productKindMismatch:
                self = .pending
            }
        }
    }
}

/// Everything that determines the entitlements of one customer.
public struct EntitlementInput: Sendable {
    public var customer: CustomerNumber
    /// The purchases of every original of which the customer has, had or claimed a transaction. For a subscription
    /// these are all periods with any owner, because a later period of another customer ends an earlier one.
    public var purchases: [OwnedPurchase]
    /// The renewal facts of the subscriptions.
    public var renewals: [RenewalKey: ObservedRenewal]
    /// The newest signed statuses of the subscriptions.
    public var statuses: [OwnershipKey: SignedStatus] = [:]
    /// The customer's consumption, including that of customers merged into them.
    public var consumptions: [ConsumedUnits]
    /// Manual grants to the customer.
    public var grants: [HandGrant]
    /// Manual revocations of those purchases and grants.
    public var revocations: [HandRevocation]

    /// Creates an input.
    public init(
        customer: CustomerNumber, purchases: [OwnedPurchase], renewals: [RenewalKey: ObservedRenewal] = [:],
        consumptions: [ConsumedUnits] = [], grants: [HandGrant] = [], revocations: [HandRevocation] = []
    ) {
        self.customer = customer
        self.purchases = purchases
        self.renewals = renewals
        self.consumptions = consumptions
        self.grants = grants
        self.revocations = revocations
    }
}

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

/// The state of one product of a subscription at a time (docs/ledger.md, "The state of a subscription").
public struct SubscriptionState: Sendable, Hashable {
    public var name: Name
    /// Why; `nil` for plain access.
    public var reason: NoAccessReason?
    /// When the access of its period ends or ended; `nil` if it has none.
    public var until: Timestamp?
    /// Whether the news of a renewal are only late, by `lapse_tolerance`.
    public var isAssumed = false
    /// The lapse, if the news of a renewal are missing and access may be assumed for some time.
    public var lapse: Lapse?
    /// The first transaction of its period.
    public var transaction: TransactionKey?

    /// The states of the table.
    public enum Name: String, Sendable, CaseIterable {
        case pending
        case withdrawn
        case active
        case unknown
        case upgraded
        case inGrace = "in_grace"
        case billingRetry = "billing_retry"
        case expired
    }

    /// Whether it gives access.
    public var givesAccess: Bool { name == .active || name == .inGrace }

    init(_ name: Name, _ reason: NoAccessReason?, until: Timestamp? = nil, of transaction: TransactionKey?) {
        (self.name, self.reason, self.until, self.transaction) = (name, reason, until, transaction)
    }
}

/// A customer's access to a named entitlement, which several products can give.
public struct NamedAccess: Sendable, Hashable {
    /// The name in the settings, such as `pro`.
    public var name: ExactText
    /// Whether any of its products is active.
    public var isActive: Bool
    /// The latest end of the active products; `nil` if none is active, or if one of them has no end.
    public var until: Timestamp?
    /// The active products that give it.
    public var products: [ExactText]

    /// Creates a named entitlement.
    public init(name: ExactText, isActive: Bool, until: Timestamp?, products: [ExactText]) {
        self.name = name
        self.isActive = isActive
        self.until = until
        self.products = products
    }
}

/// A time for which access is asked. Starts have a tolerance only in questions about now.
public struct AccessQuestion: Sendable, Hashable {
    public var moment: Timestamp
    public var isAboutNow: Bool

    /// A question about now.
    public static func now(_ moment: Timestamp) -> AccessQuestion { AccessQuestion(moment: moment, isAboutNow: true) }

    /// A question about another time, past or future.
    public static func at(_ moment: Timestamp) -> AccessQuestion { AccessQuestion(moment: moment, isAboutNow: false) }
}
