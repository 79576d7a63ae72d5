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
        self.customerID = customerID
        self.productID = productID
        self.quantity = quantity
        self.metadata = metadata
        self.environment = environment
        self.acceptsRenewal = acceptsRenewal
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
