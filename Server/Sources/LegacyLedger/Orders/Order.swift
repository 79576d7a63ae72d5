public import PurchaseVerification

/// What a customer is about to pay.
public struct Order: Sendable, Equatable {
    /// Its name; unguessable.
    public var id: String
    public var app: String
    public var customerID: String
    public var productID: String
    public var quantity: Int64
    /// What the operator noted on it.
    public var metadata: String?
    /// The UUID that the app hands to StoreKit 2, which binds the purchase to the order.
    public var appAccountToken: String
    /// The state that was recorded; `status(at:)` says what it is worth at a time.
    public var recordedStatus: OrderStatus
    public var createdAt: Timestamp
    public var expiresAt: Timestamp
    public var paidAt: Timestamp?
    public var fulfilledAt: Timestamp?
    /// When it was cancelled or refunded.
    public var closedAt: Timestamp?
    /// Where the transaction that paid it was made.
    public var environment: AppStoreEnvironment?
    /// The transaction that paid it.
    public var transactionID: String?

    package init(
        id: String, app: String, customerID: String, productID: String, quantity: Int64, metadata: String? = nil,
        appAccountToken: String, recordedStatus: OrderStatus, createdAt: Timestamp, expiresAt: Timestamp
    ) {
        self.id = id
        self.app = app
        self.customerID = customerID
        self.productID = productID
        self.quantity = quantity
        self.metadata = metadata
        self.appAccountToken = appAccountToken
        self.recordedStatus = recordedStatus
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    /// The state at a time: an order that waits for its payment expires by itself.
    public func status(at now: Timestamp) -> OrderStatus {
        recordedStatus == .created && expiresAt <= now ? .expired : recordedStatus
    }
}

/// Where an order stands.
public enum OrderStatus: String, Sendable, CaseIterable {
    /// It waits for its payment.
    case created
    /// It is paid, and waits for the operator.
    case paid
    /// The operator gave what was paid.
    case fulfilled
    /// It was not paid in time.
    case expired
    /// It was cancelled before it was paid.
    case cancelled
    /// The App Store took its purchase back.
    case refunded
}

/// An order that is to be made.
public struct OrderDraft: Sendable {
    public var customerID: String
    public var productID: String
    public var quantity: Int64
    /// A JSON object with what the operator wants to keep with it.
    public var metadata: String?

    /// A draft.
    public init(customerID: String, productID: String, quantity: Int64 = 1, metadata: String? = nil) {
        self.customerID = customerID
        self.productID = productID
        self.quantity = quantity
        self.metadata = metadata
    }
}
