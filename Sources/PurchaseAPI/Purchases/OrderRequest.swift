/// `POST /v1/orders`: an intended purchase of a customer.
public struct OrderRequest: Codable, Sendable, Equatable {
    public var customerID: String
    public var productID: String
    /// The default is 1.
    public var quantity: Int64?
    /// Data that the operator wants to keep with the order.
    public var metadata: [String: String]?
    /// The environment of the purchase; the default is Production, and for a tester also Sandbox.
    public var environment: EnvironmentName?
    /// Whether an automatic renewal of the subscription pays the order, although no claim names it; the default is no.
    public var acceptsRenewal: Bool?

    /// An order of a product for a customer.
    public init(
        customerID: String, productID: String, quantity: Int64? = nil, metadata: [String: String]? = nil,
        environment: EnvironmentName? = nil, acceptsRenewal: Bool? = nil
    ) {
        (self.customerID, self.productID, self.quantity, self.metadata) = (customerID, productID, quantity, metadata)
        (self.environment, self.acceptsRenewal) = (environment, acceptsRenewal)
    }

    enum CodingKeys: String, CodingKey {
        case quantity, metadata, environment
        case customerID = "customer_id"
        case productID = "product_id"
        case acceptsRenewal = "accepts_renewal"
    }
}

extension OrderRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        customerID = members.identifier(CodingKeys.customerID)
        productID = members.identifier(CodingKeys.productID)
        quantity = members.quantity(CodingKeys.quantity)
        metadata = members.texts(CodingKeys.metadata)
        environment = members.optionalIdentifier(CodingKeys.environment).map(EnvironmentName.init(rawValue:))
        acceptsRenewal = members.flag(CodingKeys.acceptsRenewal)
    }
}

/// `POST /v1/orders/{id}/close`: why an order ends.
public struct OrderClosingRequest: Codable, Sendable, Equatable {
    public var reason: String

    /// The end of an order, with the operator's reason.
    public init(reason: String) { self.reason = reason }

    enum CodingKeys: String, CodingKey {
        case reason
    }
}

extension OrderClosingRequest: RequestMessage {
    public init(members: inout RequestMembers) { reason = members.reason(CodingKeys.reason) }
}

/// `POST /v1/orders/{id}/fulfil`: the delivery of an order, or of some of its units.
public struct FulfilmentRequest: Codable, Sendable, Equatable {
    /// The number of units to deliver; at most the remaining ones are taken. The default is the whole order.
    public var units: Int64?

    /// A fulfilment of the whole order, or of some units.
    public init(units: Int64? = nil) { self.units = units }

    enum CodingKeys: String, CodingKey {
        case units
    }
}

extension FulfilmentRequest: RequestMessage {
    public init(members: inout RequestMembers) { units = members.quantity(CodingKeys.units) }
}

/// A page of orders.
public struct OrderPage: Codable, Sendable, Equatable {
    public var orders: [OrderMessage]
    /// The cursor of the next page; absent on the last page.
    public var nextCursor: String?

    public init(orders: [OrderMessage], nextCursor: String? = nil) {
        (self.orders, self.nextCursor) = (orders, nextCursor)
    }

    enum CodingKeys: String, CodingKey {
        case orders
        case nextCursor = "next_cursor"
    }
}
