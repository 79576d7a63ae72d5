/// A product that an operator gave to a customer.
public struct GrantMessage: Codable, Sendable, Equatable {
    /// Ends it: `DELETE /v1/customers/{id}/grants/{grant_id}`.
    public var grantID: String
    public var customerID: String
    /// The customer into whom they were merged; absent if they were not.
    public var mergedInto: String?
    public var productID: String
    public var environment: EnvironmentName
    public var quantity: Int64
    /// When it ends; absent if it does not end.
    public var until: String?
    /// The reason; it is recorded.
    public var reason: String

    public init(
        grantID: String, customerID: String, productID: String, environment: EnvironmentName, quantity: Int64,
        until: String? = nil, reason: String
    ) {
        self.grantID = grantID
        self.customerID = customerID
        self.productID = productID
        self.environment = environment
        self.quantity = quantity
        self.until = until
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case environment, quantity, until, reason
        case grantID = "grant_id"
        case customerID = "customer_id"
        case mergedInto = "merged_into"
        case productID = "product_id"
    }
}

/// `POST /v1/customers/{id}/grants`: gives a product to a customer without a purchase.
public struct GrantRequest: Codable, Sendable, Equatable {
    public var productID: String
    /// Units of a consumable; the default is 1.
    public var quantity: Int64?
    /// The default is Production.
    public var environment: EnvironmentName?
    /// The end of the grant; without it, the grant does not end.
    public var until: String?
    /// The reason; it is recorded.
    public var reason: String

    public init(
        productID: String, quantity: Int64? = nil, environment: EnvironmentName? = nil, until: String? = nil,
        reason: String
    ) {
        self.productID = productID
        self.quantity = quantity
        self.environment = environment
        self.until = until
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case quantity, environment, until, reason
        case productID = "product_id"
    }
}

extension GrantRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        productID = members.identifier(CodingKeys.productID)
        quantity = members.quantity(CodingKeys.quantity)
        environment = members.optionalIdentifier(CodingKeys.environment).map(EnvironmentName.init(rawValue:))
        until = members.text(CodingKeys.until)
        reason = members.reason(CodingKeys.reason)
    }
}
