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

    /// A grant by its parts.
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
