/// The state of a customer's entitlement to a product in an environment, by purchases of one kind, and the reason for
/// it.
public struct EntitlementMessage: Codable, Sendable, Equatable {
    public var productID: String
    public var productType: ProductType
    public var environment: EnvironmentName
    /// Only `active` grants access.
    public var state: State
    /// The reason why it is not active, or `in_grace`; absent for any other access.
    public var reason: Reason?
    /// The remaining units; only for consumables.
    public var balance: Int64?
    /// Units that were used and then refunded, or used from a purchase that now belongs to another customer; only for
    /// consumables.
    public var shortfall: Int64?
    /// The start of the access; only if it is active and not a balance.
    public var since: String?
    /// When the access ends or ended; absent if it does not end.
    public var until: String?
    /// The transaction that it rests on; absent for a balance and for a grant by an operator.
    public var transactionID: String?
    /// `true` if the paid time has ended and the news of the renewal are late: then it is active until `until` by the
    /// setting `lapse_tolerance`; absent otherwise.
    public var assumed: Bool?
    /// `true` if a grace period was signed without its end: then it is active until something newer is signed, at the
    /// latest until `until`; absent otherwise.
    public var graceEndUnknown: Bool?
    /// What the App Store signed about the renewal after the period that it rests on; only for auto-renewable
    /// subscriptions, and absent if nothing was signed.
    public var renewal: RenewalMessage?
    /// Why the App Store revoked it; absent if it did not sign a reason.
    public var cancelReason: CancelReason?
    /// When the newest data about the paid period was signed; only for auto-renewable subscriptions.
    public var lastConfirmedAt: String?
    /// The other shops that give it, by the names that your backend gave them; absent if none does.
    public var sources: [String]?
    /// The seats of the present period, without those that were refunded; only for the purchaser of a subscription that
    /// is sold by the seat, while it is active.
    public var seats: Int64?

    public init(
        productID: String, productType: ProductType, environment: EnvironmentName, state: State, reason: Reason? = nil,
        balance: Int64? = nil, shortfall: Int64? = nil, since: String? = nil, until: String? = nil,
        transactionID: String? = nil, assumed: Bool? = nil, graceEndUnknown: Bool? = nil,
        renewal: RenewalMessage? = nil,
        cancelReason: CancelReason? = nil,
        lastConfirmedAt: String? = nil, sources: [String]? = nil, seats: Int64? = nil
    ) {
        (self.productID, self.productType, self.environment, self.state) = (productID, productType, environment, state)
        (self.reason, self.balance, self.shortfall, self.since) = (reason, balance, shortfall, since)
        (self.until, self.transactionID, self.assumed) = (until, transactionID, assumed)
        (self.graceEndUnknown, self.renewal, self.cancelReason) = (graceEndUnknown, renewal, cancelReason)
        (self.lastConfirmedAt, self.sources, self.seats) = (lastConfirmedAt, sources, seats)
    }

    enum CodingKeys: String, CodingKey {
        case environment, state, reason, balance, shortfall, since, until, assumed, renewal, sources, seats
        case productID = "product_id"
        case productType = "product_type"
        case transactionID = "transaction_id"
        case graceEndUnknown = "grace_end_unknown"
        case cancelReason = "cancel_reason"
        case lastConfirmedAt = "last_confirmed_at"
    }
}

extension EntitlementMessage {
    /// Why the App Store revoked a purchase (Apple, `revocationReason`).
    public struct CancelReason: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// An issue within the app, actual or perceived.
        public static let appIssue = CancelReason(rawValue: "app_issue")
        public static let other = CancelReason(rawValue: "other")

        /// The word for the App Store's number.
        public init(number: Int64) { self = number == 1 ? .appIssue : .other }
    }
}

extension EntitlementMessage {
    /// Whether something may be used; Only `active` grants access.
    public struct State: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let active = State(rawValue: "active")
        /// No product gives it; only for named entitlements.
        public static let inactive = State(rawValue: "inactive")
        /// The balance is used up.
        public static let consumed = State(rawValue: "consumed")
        /// The paid time has ended.
        public static let expired = State(rawValue: "expired")
        /// Apple or an operator withdrew it.
        public static let withdrawn = State(rawValue: "withdrawn")
        /// Another product of the subscription has taken its place.
        public static let upgraded = State(rawValue: "upgraded")
        /// Another customer owns the purchase, or nobody yet.
        public static let moved = State(rawValue: "moved")
        /// It does not count: it begins later, or the settings do not accept it.
        public static let pending = State(rawValue: "pending")
    }

    /// The reasons why an entitlement is not active, and `inGrace`, which is one for access.
    public struct Reason: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let expired = Reason(rawValue: "expired")
        /// The paid time has ended, and Apple still tries to collect the next payment.
        public static let billingRetry = Reason(rawValue: "billing_retry")
        /// The paid time has ended, and nothing says that the subscription was not renewed.
        public static let newsMissing = Reason(rawValue: "news_missing")
        /// Active: the paid time has ended, and the App Store gives a grace period while it tries to collect the next
        /// payment.
        public static let inGrace = Reason(rawValue: "in_grace")
        /// It is no longer shared with this member of a family.
        public static let familyRevoked = Reason(rawValue: "family_revoked")
        /// Apple refunded or revoked it.
        public static let revoked = Reason(rawValue: "revoked")
        /// The receipt states a cancellation date.
        public static let cancelled = Reason(rawValue: "cancelled")
        public static let upgraded = Reason(rawValue: "upgraded")
        /// A later period of another product has taken its place.
        public static let superseded = Reason(rawValue: "superseded")
        public static let consumed = Reason(rawValue: "consumed")
        public static let notStarted = Reason(rawValue: "not_started")
        /// The purchase has no owner yet.
        public static let held = Reason(rawValue: "held")
        public static let ownedByAnother = Reason(rawValue: "owned_by_another")
        /// An operator revoked it.
        public static let revokedByHand = Reason(rawValue: "revoked_by_hand")
        /// Sandbox purchases do not count for this customer.
        public static let sandboxNotAccepted = Reason(rawValue: "sandbox_not_accepted")
        /// The customer claimed a seat of a subscription, and as many claims are older as it has seats.
        public static let noSeat = Reason(rawValue: "no_seat")
        /// The customer's seat of a subscription ended.
        public static let seatUnclaimed = Reason(rawValue: "seat_unclaimed")
        public static let productUnknown = Reason(rawValue: "product_unknown")
        public static let productKindMismatch = Reason(rawValue: "product_kind_mismatch")
        /// No evidence states the end of the period.
        public static let periodUnknown = Reason(rawValue: "period_unknown")
    }
}
