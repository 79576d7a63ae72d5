/// A change in the ledger, in the same format for all types.
public struct EventMessage: Codable, Sendable, Equatable {
    /// The id of the message: `evt_<entry>_<number>`, or `gap_` before the id of the event that was given up. The
    /// header `webhook-id` of a delivery is the same.
    public var id: String
    public var type: Kind
    public var at: String
    public var app: String
    /// The customer whose purchase or order changed.
    public var customerID: String?
    /// The owner before a transfer, or the customer before a merge.
    public var formerCustomerID: String?
    /// The owner of a purchase that the customer claimed; only of `claim_conflict`.
    public var ownerCustomerID: String?
    public var environment: EnvironmentName?
    /// Whether purchases of the environment count for the customer. If it is false, the event gives nothing: a purchase
    /// of the sandbox by a customer who is no tester. Absent for events without an environment.
    public var counts: Bool?
    public var productID: String?
    public var transactionID: String?
    public var originalTransactionID: String?
    public var orderID: String?
    /// Units that were granted, withdrawn, given back or consumed; in `customer_merged`, the purchases of the former
    /// customer.
    public var units: Int64?
    /// The balance afterwards.
    public var balance: Int64?
    /// Units that the customer consumed and Apple withdrew, in all, afterwards.
    public var shortfall: Int64?
    /// When the access that the event is about ends.
    public var until: String?
    /// The reason of an operator's action, or the fields that contradict each other.
    public var reason: String?
    /// The claim that a decision is about (`claim_decided`), or the App Store's answer (`contradicted`).
    public var submissionID: String?
    /// The token of `external_purchase_token_due` and `external_purchase_token_overdue`.
    public var externalPurchaseID: String?
    /// The price of the transaction, in thousandths of the currency, as the App Store signed it.
    public var price: Int64?
    /// ISO 4217.
    public var currency: String?
    /// The members of `renewal` that changed; only of `renewal_changed`.
    public var changed: [RenewalField]?
    /// What is signed about the next renewal now; only of `renewal_changed`.
    public var renewal: RenewalMessage?
    /// What was signed before. Absent if nothing was, which counts as a subscription that renews.
    public var formerRenewal: RenewalMessage?
    /// The entry of the record that caused the event.
    public var entryID: String
    /// The ids of the messages that were given up; only of a `gap`.
    public var missing: [String]?

    public init(
        id: String, type: Kind, at: String, app: String, customerID: String? = nil, formerCustomerID: String? = nil,
        ownerCustomerID: String? = nil, environment: EnvironmentName? = nil, counts: Bool? = nil,
        productID: String? = nil,
        transactionID: String? = nil,
        originalTransactionID: String? = nil, orderID: String? = nil, units: Int64? = nil, balance: Int64? = nil,
        shortfall: Int64? = nil, until: String? = nil, reason: String? = nil,
        submissionID: String? = nil, price: Int64? = nil, currency: String? = nil, changed: [RenewalField]? = nil,
        renewal: RenewalMessage? = nil, formerRenewal: RenewalMessage? = nil, entryID: String, missing: [String]? = nil
    ) {
        (self.id, self.type, self.at, self.app) = (id, type, at, app)
        (self.customerID, self.formerCustomerID, self.ownerCustomerID) = (customerID, formerCustomerID, ownerCustomerID)
        (self.environment, self.counts, self.productID) = (environment, counts, productID)
        (self.transactionID, self.originalTransactionID, self.orderID) = (transactionID, originalTransactionID, orderID)
        (self.units, self.balance, self.shortfall, self.until) = (units, balance, shortfall, until)
        (self.reason, self.submissionID, self.price, self.currency) = (reason, submissionID, price, currency)
        (self.changed, self.renewal, self.formerRenewal, self.entryID) = (changed, renewal, formerRenewal, entryID)
        self.missing = missing
    }

    enum CodingKeys: String, CodingKey {
        case id, type, at, app, environment, counts, units, balance, shortfall, until, reason, missing
        case price, currency, changed, renewal
        case formerRenewal = "former_renewal"
        case customerID = "customer_id"
        case formerCustomerID = "former_customer_id"
        case ownerCustomerID = "owner_customer_id"
        case productID = "product_id"
        case transactionID = "transaction_id"
        case originalTransactionID = "original_transaction_id"
        case orderID = "order_id"
        case submissionID = "submission_id"
        case externalPurchaseID = "external_purchase_id"
        case entryID = "entry_id"
    }
}

extension EventMessage {
    /// A member of a renewal that an app or a backend acts on.
    public struct RenewalField: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let autoRenew = RenewalField(rawValue: "auto_renew")
        public static let nextProduct = RenewalField(rawValue: "next_product")
        public static let priceConsent = RenewalField(rawValue: "price_consent")
        public static let billingRetry = RenewalField(rawValue: "billing_retry")
        public static let graceUntil = RenewalField(rawValue: "grace_until")
        public static let offer = RenewalField(rawValue: "offer")
        public static let commitment = RenewalField(rawValue: "commitment")
    }

    /// The types of events. Expiry is not an event: it happens by time alone.
    public struct Kind: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// A purchase has its first owner.
        public static let granted = Kind(rawValue: "granted")
        /// A further period of a subscription has an owner.
        public static let renewed = Kind(rawValue: "renewed")
        /// The App Store extended a period.
        public static let extended = Kind(rawValue: "extended")
        /// A purchase has another owner.
        public static let transferred = Kind(rawValue: "transferred")
        /// Apple withdrew a purchase or part of it.
        public static let revoked = Kind(rawValue: "revoked")
        /// A refund was reversed, or part of it.
        public static let reversed = Kind(rawValue: "reversed")
        /// An upgrade ended a period.
        public static let upgraded = Kind(rawValue: "upgraded")
        /// Auto-renew, the next product, the consent to a price, a billing retry, a grace period, the next offer or the
        /// commitment of a subscription changed.
        public static let renewalChanged = Kind(rawValue: "renewal_changed")
        /// Evidence disagrees with other evidence about the same transaction.
        public static let contradicted = Kind(rawValue: "contradicted")
        public static let consumed = Kind(rawValue: "consumed")
        public static let orderCreated = Kind(rawValue: "order_created")
        public static let orderPaid = Kind(rawValue: "order_paid")
        /// Some units of an order were delivered, and others remain.
        public static let orderPartlyFulfilled = Kind(rawValue: "order_partly_fulfilled")
        public static let orderFulfilled = Kind(rawValue: "order_fulfilled")
        /// An operator ended a paid order.
        public static let orderClosed = Kind(rawValue: "order_closed")
        /// Whoever is responsible for the user withdrew the consent to the app.
        public static let consentRescinded = Kind(rawValue: "consent_rescinded")
        public static let refundRequested = Kind(rawValue: "refund_requested")
        public static let orderCancelled = Kind(rawValue: "order_cancelled")
        public static let orderRefunded = Kind(rawValue: "order_refunded")
        /// The payment of an order, which no claim had asked for, went to another order that a claim named.
        public static let orderReopened = Kind(rawValue: "order_reopened")
        /// The refund of an order's purchase was reversed.
        public static let orderRestored = Kind(rawValue: "order_restored")
        public static let grantAdded = Kind(rawValue: "grant_added")
        public static let revocationAdded = Kind(rawValue: "revocation_added")
        public static let actLifted = Kind(rawValue: "act_lifted")
        /// Another shop gives a product, or gives it for longer. The reason is its name.
        public static let groundAdded = Kind(rawValue: "ground_added")
        /// What another shop gave has ended.
        public static let groundEnded = Kind(rawValue: "ground_ended")
        public static let customerMerged = Kind(rawValue: "customer_merged")
        public static let customerErased = Kind(rawValue: "customer_erased")
        public static let tokenAssigned = Kind(rawValue: "token_assigned")
        /// The customer got a seat of a subscription.
        public static let seatClaimed = Kind(rawValue: "seat_claimed")
        /// The customer's seat of a subscription ended.
        public static let seatUnclaimed = Kind(rawValue: "seat_unclaimed")
        /// Apple asked for a report about an external purchase token.
        public static let externalPurchaseTokenDue = Kind(rawValue: "external_purchase_token_due")
        /// A report about an external purchase token is late.
        public static let externalPurchaseTokenOverdue = Kind(rawValue: "external_purchase_token_overdue")
        /// A product was registered, so its known purchases now count.
        public static let registered = Kind(rawValue: "registered")
        /// A claim that waited for the App Store was decided. The reason is its code.
        public static let claimDecided = Kind(rawValue: "claim_decided")
        /// The App Store refused a purchase that stays granted. The reason is the code of its answer.
        public static let notConfirmed = Kind(rawValue: "not_confirmed")
        /// A customer claimed a purchase that belongs to another customer.
        public static let claimConflict = Kind(rawValue: "claim_conflict")
        /// Webhooks only: an event of the customer was given up.
        public static let gap = Kind(rawValue: "gap")
    }
}

/// `GET /v1/events`: a page of events, oldest first.
public struct EventPage: Codable, Sendable, Equatable {
    public var events: [EventMessage]
    /// The parameter `cursor` of the next request; present on every page, so that a reader waits for new events with
    /// it.
    public var nextCursor: String

    public init(events: [EventMessage], nextCursor: String) { (self.events, self.nextCursor) = (events, nextCursor) }

    enum CodingKeys: String, CodingKey {
        case events
        case nextCursor = "next_cursor"
    }
}
