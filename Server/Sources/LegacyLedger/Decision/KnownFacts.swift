public import PurchaseVerification

/// Everything that the decision may know besides the claim and its proof.
public struct KnownFacts: Sendable {
    /// The app that the claim is made in.
    public var app: RegisteredApp
    /// The time of the decision.
    public var now: Timestamp
    /// The order of the claim, if there is one of that id in the app.
    public var order: Order?
    /// The order whose token the purchase carries, if there is one in the app.
    public var tokenOrder: Order?
    /// The purchase as it was recorded before.
    public var recorded: RecordedPurchase?
    /// Who owns the original transaction.
    public var originalOwner: String?
    /// Where the original transaction is recorded as made. Transaction receipts state the environment outside of what is
    /// signed, so a purchase of production can be called one of the sandbox; it is the same purchase all the same.
    public var recordedEnvironment: AppStoreEnvironment?
    /// What was recorded under other transactions and is the same thing bought: of the same original transaction and, for
    /// auto-renewable subscriptions, of the same period. Restoring makes such copies.
    public var copies: [RecordedPurchase] = []
    /// When the App Store took the purchase, or one that it is a copy of, back, as evidence showed before; it may be that it was
    /// never granted.
    public var withdrawnAt: Timestamp?
    /// What the claiming customer has of the product already, if it is a non-renewing subscription: one more begins when those
    /// before it end.
    public var held: [RecordedPurchase] = []
    /// Original transactions that the same evidence proves and that are not the claiming customer's to use: others have them, or
    /// the App Store took them back.
    public var unusable: Set<String> = []

    /// Facts about a claim of which nothing is recorded.
    public init(app: RegisteredApp, now: Timestamp) {
        self.app = app
        self.now = now
    }
}

/// A purchase as the ledger recorded it.
public struct RecordedPurchase: Sendable, Equatable {
    public var app: String
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var originalTransactionID: String
    public var productID: String
    public var productKind: ProductKind
    public var quantity: Int64
    /// Who owns it.
    public var customerID: String
    /// The order that it paid.
    public var orderID: String?
    public var kind: AcceptanceKind
    public var state: PurchaseState
    public var purchasedAt: Timestamp
    /// When the paid period ends, for auto-renewable subscriptions.
    public var expiresAt: Timestamp?
    /// When it was to end as it was first recorded. The App Store may make a period longer, and what tells it from others must
    /// stay.
    public var firstExpiresAt: Timestamp?
    /// The App Store's number of the period.
    public var webOrderLineItemID: String?
    /// How long it lasts, in milliseconds, for non-renewing subscriptions.
    public var duration: Int64?
    /// When the App Store took it back.
    public var withdrawnAt: Timestamp?
    public var recordedAt: Timestamp
    /// The submission that was accepted.
    public var submissionID: String

    package init(
        app: String, environment: AppStoreEnvironment, transactionID: String, originalTransactionID: String,
        productID: String, productKind: ProductKind, quantity: Int64, customerID: String, orderID: String?,
        kind: AcceptanceKind, state: PurchaseState, purchasedAt: Timestamp, expiresAt: Timestamp? = nil,
        firstExpiresAt: Timestamp? = nil, webOrderLineItemID: String? = nil,
        duration: Int64? = nil, withdrawnAt: Timestamp? = nil, recordedAt: Timestamp, submissionID: String
    ) {
        self.app = app
        self.environment = environment
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.productKind = productKind
        self.quantity = quantity
        self.customerID = customerID
        self.orderID = orderID
        self.kind = kind
        self.state = state
        self.purchasedAt = purchasedAt
        self.expiresAt = expiresAt
        self.firstExpiresAt = firstExpiresAt ?? expiresAt
        self.webOrderLineItemID = webOrderLineItemID
        self.duration = duration
        self.withdrawnAt = withdrawnAt
        self.recordedAt = recordedAt
        self.submissionID = submissionID
    }
}

/// How a purchase came to be accepted.
public enum AcceptanceKind: String, Sendable, CaseIterable {
    /// Bought.
    case bought
    /// A further period of a subscription.
    case renewed
    /// A copy of what was recorded before, under a new transaction: it adds nothing to what the customer owns.
    case restored
}

/// What a recorded purchase is worth.
public enum PurchaseState: String, Sendable, CaseIterable {
    /// It counts.
    case active
    /// The App Store took it back, and that is final.
    case withdrawn
}
