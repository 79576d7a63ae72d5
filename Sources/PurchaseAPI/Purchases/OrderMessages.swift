/// `POST /v1/orders`: what a customer is about to pay.
public struct OrderRequest: Codable, Sendable, Equatable {
    public var customerID: String
    public var productID: String
    /// 1, where it is left out.
    public var quantity: Int64?
    /// Whatever the operator wants to keep with it.
    public var metadata: [String: String]?

    /// An order of a product for a customer.
    public init(customerID: String, productID: String, quantity: Int64? = nil, metadata: [String: String]? = nil) {
        self.customerID = customerID
        self.productID = productID
        self.quantity = quantity
        self.metadata = metadata
    }

    enum CodingKeys: String, CodingKey {
        case customerID = "customer_id"
        case productID = "product_id"
        case quantity, metadata
    }
}

extension OrderRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        customerID = members.identifier(CodingKeys.customerID)
        productID = members.identifier(CodingKeys.productID)
        quantity = members.quantity(CodingKeys.quantity)
        metadata = members.texts(CodingKeys.metadata)
    }
}

/// An order as the server tells it. Times are RFC 3339 in UTC.
public struct OrderMessage: Codable, Sendable, Equatable {
    public var orderID: String
    public var customerID: String
    public var productID: String
    public var quantity: Int64
    public var metadata: [String: String]?
    /// The UUID to hand to StoreKit 2 (`Product.PurchaseOption.appAccountToken`), which binds the purchase to the order.
    public var appAccountToken: String
    public var status: Status
    public var createdAt: String
    /// Until when it waits for its payment.
    public var expiresAt: String
    public var paidAt: String?
    public var fulfilledAt: String?
    /// When it was cancelled or refunded.
    public var closedAt: String?
    /// Where the purchase that paid it was made.
    public var environment: EnvironmentName?
    /// The transaction that paid it.
    public var transactionID: String?

    /// An order by its parts.
    public init(
        orderID: String, customerID: String, productID: String, quantity: Int64, metadata: [String: String]?,
        appAccountToken: String, status: Status, createdAt: String, expiresAt: String, paidAt: String?,
        fulfilledAt: String?, closedAt: String?, environment: EnvironmentName?, transactionID: String?
    ) {
        self.orderID = orderID
        self.customerID = customerID
        self.productID = productID
        self.quantity = quantity
        self.metadata = metadata
        self.appAccountToken = appAccountToken
        self.status = status
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.paidAt = paidAt
        self.fulfilledAt = fulfilledAt
        self.closedAt = closedAt
        self.environment = environment
        self.transactionID = transactionID
    }

    enum CodingKeys: String, CodingKey {
        case orderID = "order_id"
        case customerID = "customer_id"
        case productID = "product_id"
        case quantity, metadata, status, environment
        case appAccountToken = "app_account_token"
        case createdAt = "created_at"
        case expiresAt = "expires_at"
        case paidAt = "paid_at"
        case fulfilledAt = "fulfilled_at"
        case closedAt = "closed_at"
        case transactionID = "transaction_id"
    }
}

/// A page of orders.
public struct OrderList: Codable, Sendable, Equatable {
    public var orders: [OrderMessage]
    /// Where the next page begins; absent on the last.
    public var nextCursor: String?

    /// A page.
    public init(orders: [OrderMessage], nextCursor: String?) {
        self.orders = orders
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case orders
        case nextCursor = "next_cursor"
    }
}
