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

    /// A grant by its parts.
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
