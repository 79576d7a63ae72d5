/// `POST /v1/customers/{id}/consume`: takes from a consumable's balance.
public struct ConsumptionRequest: Codable, Sendable, Equatable {
    public var productID: String
    /// The default is 1.
    public var quantity: Int64?
    /// The sender's name for the consumption, so that it is made once; the default is the `Idempotency-Key`.
    public var consumptionID: String?
    /// The environment of the balance; the default is Production, or Sandbox for a tester without a sufficient balance
    /// there.
    public var environment: EnvironmentName?

    /// A consumption by its parts.
    public init(
        productID: String, quantity: Int64? = nil, consumptionID: String? = nil, environment: EnvironmentName? = nil
    ) {
        self.productID = productID
        self.quantity = quantity
        self.consumptionID = consumptionID
        self.environment = environment
    }

    enum CodingKeys: String, CodingKey {
        case quantity, environment
        case productID = "product_id"
        case consumptionID = "consumption_id"
    }
}

extension ConsumptionRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        productID = members.identifier(CodingKeys.productID)
        quantity = members.quantity(CodingKeys.quantity)
        consumptionID = members.optionalIdentifier(CodingKeys.consumptionID)
        environment = members.optionalIdentifier(CodingKeys.environment).map(EnvironmentName.init(rawValue:))
    }
}
