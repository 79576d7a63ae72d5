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
