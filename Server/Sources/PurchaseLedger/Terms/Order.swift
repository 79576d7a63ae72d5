public import PurchaseVerification

public import struct Foundation.UUID

/// An order: an intended purchase of a customer, recorded before the payment.
public struct Order: Sendable, Equatable {
    public var id: UUID
    public var app: String
    public var customerID: String
    public var productID: String
    public var quantity: Int64
    /// The environment of the order. If it is `nil`, the order accepts purchases in Production, and in Sandbox from a
    /// tester.
    public var environment: AppStoreEnvironment?
    /// Whether an automatic renewal of the subscription pays it, although no claim names it.
    public var acceptsRenewal: Bool
    /// The customer's `appAccountToken`, which the purchase should carry.
    public var appAccountToken: UUID
    /// The operator's text.
    public var metadata: String?
    /// The state at the time of the answer.
    public var status: OrderStatus
    public var createdAt: Timestamp
    public var expiresAt: Timestamp
    public var paidAt: Timestamp?
    /// Units that were delivered so far.
    public var fulfilledUnits: Int64
    /// When the last units were delivered.
    public var fulfilledAt: Timestamp?
    /// When it was cancelled, closed or refunded.
    public var closedAt: Timestamp?
    /// The transaction that paid it.
    public var payment: OrderPayment?
}

/// The content of an order.
public struct OrderDraft: Sendable, Equatable {
    public var customerID: String
    public var productID: String
    public var quantity: Int64
    public var environment: AppStoreEnvironment?
    /// Whether an automatic renewal of the subscription pays it, although no claim names it.
    public var acceptsRenewal: Bool
    public var metadata: String?

    /// Creates an order of a customer for a product.
    public init(
        customerID: String, productID: String, quantity: Int64 = 1, environment: AppStoreEnvironment? = nil,
        acceptsRenewal: Bool = false, metadata: String? = nil
    ) {
        self.customerID = customerID
        self.productID = productID
        self.quantity = quantity
        self.environment = environment
        self.acceptsRenewal = acceptsRenewal
        self.metadata = metadata
    }
}

/// The payment of an order.
public struct OrderPayment: Sendable, Equatable {
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var price: PurchasePrice?
    /// A free trial pays an order of its subscription.
    public var offer: PurchaseOffer?
}
