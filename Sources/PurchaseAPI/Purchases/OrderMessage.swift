/// An order in an answer. Times are RFC 3339 in UTC.
public struct OrderMessage: Codable, Sendable, Equatable {
    public var orderID: String
    public var customerID: String
    public var productID: String
    public var quantity: Int64
    /// The environment of the purchase, as the order states it; absent means Production, and for a tester also Sandbox.
    public var environment: EnvironmentName?
    public var metadata: [String: String]?
    /// The customer's UUID, to be handed to StoreKit 2 (`Product.PurchaseOption.appAccountToken`).
    public var appAccountToken: String
    public var status: Status
    public var createdAt: String
    /// The time until which it waits for its payment.
    public var expiresAt: String
    public var paidAt: String?
    public var fulfilledAt: String?
    /// When it was cancelled or refunded.
    public var closedAt: String?
    /// The payment of the order.
    public var payment: PaymentMessage?
    /// Whether an earlier request created or fulfilled it; then deliver nothing. Absent if the order is only shown.
    public var replayed: Bool?

    /// An order by its parts.
    public init(
        orderID: String, customerID: String, productID: String, quantity: Int64, environment: EnvironmentName? = nil,
        metadata: [String: String]? = nil, appAccountToken: String, status: Status, createdAt: String,
        expiresAt: String, paidAt: String? = nil, fulfilledAt: String? = nil, closedAt: String? = nil,
        payment: PaymentMessage? = nil, replayed: Bool? = nil
    ) {
        self.orderID = orderID
        self.customerID = customerID
        self.productID = productID
        self.quantity = quantity
        self.environment = environment
        self.metadata = metadata
        self.appAccountToken = appAccountToken
        self.status = status
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.paidAt = paidAt
        self.fulfilledAt = fulfilledAt
        self.closedAt = closedAt
        self.payment = payment
        self.replayed = replayed
    }

    enum CodingKeys: String, CodingKey {
        case quantity, environment, metadata, status, payment, replayed
        case orderID = "order_id"
        case customerID = "customer_id"
        case productID = "product_id"
        case appAccountToken = "app_account_token"
        case createdAt = "created_at"
        case expiresAt = "expires_at"
        case paidAt = "paid_at"
        case fulfilledAt = "fulfilled_at"
        case closedAt = "closed_at"
    }
}

extension OrderMessage {
    /// The states of an order.
    public struct Status: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let created = Status(rawValue: "created")
        public static let paid = Status(rawValue: "paid")
        public static let fulfilled = Status(rawValue: "fulfilled")
        public static let expired = Status(rawValue: "expired")
        public static let cancelled = Status(rawValue: "cancelled")
        public static let refunded = Status(rawValue: "refunded")
    }
}
