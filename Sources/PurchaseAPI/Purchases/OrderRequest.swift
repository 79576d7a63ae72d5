/// `POST /v1/orders`: what a customer is about to pay.
public struct OrderRequest: Codable, Sendable, Equatable {
    public var customerID: String
    public var productID: String
    /// 1, where it is left out.
    public var quantity: Int64?
    /// Whatever the operator wants to keep with it.
    public var metadata: [String: String]?
    /// Where the purchase must be made; Production, where it is left out, and Sandbox too for a tester.
    public var environment: EnvironmentName?

    /// An order of a product for a customer.
    public init(
        customerID: String, productID: String, quantity: Int64? = nil, metadata: [String: String]? = nil,
        environment: EnvironmentName? = nil
    ) {
        self.customerID = customerID
        self.productID = productID
        self.quantity = quantity
        self.metadata = metadata
        self.environment = environment
    }

    enum CodingKeys: String, CodingKey {
        case quantity, metadata, environment
        case customerID = "customer_id"
        case productID = "product_id"
    }
}

extension OrderRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        customerID = members.identifier(CodingKeys.customerID)
        productID = members.identifier(CodingKeys.productID)
        quantity = members.quantity(CodingKeys.quantity)
        metadata = members.texts(CodingKeys.metadata)
        environment = members.optionalIdentifier(CodingKeys.environment).map(EnvironmentName.init(rawValue:))
    }
}
