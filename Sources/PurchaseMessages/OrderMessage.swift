/// An order in an answer. Times are RFC 3339 in UTC.
public struct OrderMessage: Codable, Sendable, Equatable {
    public var orderID: String
    public var customerID: String
    public var productID: String
    public var quantity: Int64
    /// The environment of the purchase, as the order states it; absent means Production, and for a tester also Sandbox.
    public var environment: EnvironmentName?
    /// Whether an automatic renewal of the subscription pays it, although no claim names it; absent means no.
    public var acceptsRenewal: Bool?
    public var metadata: [String: String]?
    /// The customer's UUID, to be handed to StoreKit 2 (`Product.PurchaseOption.appAccountToken`).
    public var appAccountToken: String
    public var status: Status
    public var createdAt: String
    /// The time until which it waits for its payment.
    public var expiresAt: String
    public var paidAt: String?
    /// Units that were delivered so far; absent means none.
    public var fulfilledUnits: Int64?
    /// When the last of them were delivered.
    public var fulfilledAt: String?
    /// When it was cancelled, closed or refunded.
    public var closedAt: String?
    /// The payment of the order.
    public var payment: PaymentMessage?
    /// The units to deliver, in the answer to a fulfilment: those that the request took or, if `replayed`, the request
    /// that it repeats. Absent if another request fulfilled the order.
    public var takenUnits: Int64?
    /// Whether an earlier request created, fulfilled or closed it; then deliver nothing. Absent if the order is only
    /// shown.
    public var replayed: Bool?

    public init(
        orderID: String, customerID: String, productID: String, quantity: Int64, environment: EnvironmentName? = nil,
        acceptsRenewal: Bool? = nil, metadata: [String: String]? = nil, appAccountToken: String, status: Status,
        createdAt: String, expiresAt: String, paidAt: String? = nil, fulfilledUnits: Int64? = nil,
        fulfilledAt: String? = nil, closedAt: String? = nil, payment: PaymentMessage? = nil, takenUnits: Int64? = nil,
        replayed: Bool? = nil
    ) {
        (self.orderID, self.customerID, self.productID, self.quantity) = (orderID, customerID, productID, quantity)
        (self.environment, self.acceptsRenewal, self.metadata) = (environment, acceptsRenewal, metadata)
        (self.appAccountToken, self.status, self.createdAt) = (appAccountToken, status, createdAt)
        (self.expiresAt, self.paidAt, self.fulfilledUnits) = (expiresAt, paidAt, fulfilledUnits)
        (self.fulfilledAt, self.closedAt, self.payment, self.takenUnits) = (fulfilledAt, closedAt, payment, takenUnits)
        self.replayed = replayed
    }

    enum CodingKeys: String, CodingKey {
        case quantity, environment, metadata, status, payment, replayed
        case orderID = "order_id"
        case customerID = "customer_id"
        case productID = "product_id"
        case acceptsRenewal = "accepts_renewal"
        case appAccountToken = "app_account_token"
        case createdAt = "created_at"
        case expiresAt = "expires_at"
        case paidAt = "paid_at"
        case fulfilledUnits = "fulfilled_units"
        case fulfilledAt = "fulfilled_at"
        case closedAt = "closed_at"
        case takenUnits = "taken_units"
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
        public static let closed = Status(rawValue: "closed")
        public static let expired = Status(rawValue: "expired")
        public static let cancelled = Status(rawValue: "cancelled")
        public static let refunded = Status(rawValue: "refunded")
    }
}
