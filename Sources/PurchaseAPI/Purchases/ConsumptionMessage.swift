/// Units that were taken from a balance.
public struct ConsumptionMessage: Codable, Sendable, Equatable {
    public var consumptionID: String
    public var customerID: String
    /// The customer into whom they were merged; absent if they were not.
    public var mergedInto: String?
    public var productID: String
    public var environment: EnvironmentName
    public var quantity: Int64
    /// The remaining balance, even if an earlier request took the units.
    public var balance: Int64
    /// Units that were used and then refunded, or used from a purchase that now belongs to another customer.
    public var shortfall: Int64
    public var consumedAt: String
    /// Whether an earlier request took the units.
    public var replayed: Bool

    public init(
        consumptionID: String, customerID: String, productID: String, environment: EnvironmentName, quantity: Int64,
        balance: Int64, shortfall: Int64, consumedAt: String, replayed: Bool
    ) {
        (self.consumptionID, self.customerID, self.productID) = (consumptionID, customerID, productID)
        (self.environment, self.quantity, self.balance) = (environment, quantity, balance)
        (self.shortfall, self.consumedAt, self.replayed) = (shortfall, consumedAt, replayed)
    }

    enum CodingKeys: String, CodingKey {
        case environment, quantity, balance, shortfall, replayed
        case consumptionID = "consumption_id"
        case customerID = "customer_id"
        case mergedInto = "merged_into"
        case productID = "product_id"
        case consumedAt = "consumed_at"
    }
}

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

    public init(
        productID: String, quantity: Int64? = nil, consumptionID: String? = nil, environment: EnvironmentName? = nil
    ) {
        (self.productID, self.quantity, self.consumptionID) = (productID, quantity, consumptionID)
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
