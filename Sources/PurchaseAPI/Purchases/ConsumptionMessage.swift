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

    /// A consumption by its parts.
    public init(
        consumptionID: String, customerID: String, productID: String, environment: EnvironmentName, quantity: Int64,
        balance: Int64, shortfall: Int64, consumedAt: String, replayed: Bool
    ) {
        self.consumptionID = consumptionID
        self.customerID = customerID
        self.productID = productID
        self.environment = environment
        self.quantity = quantity
        self.balance = balance
        self.shortfall = shortfall
        self.consumedAt = consumedAt
        self.replayed = replayed
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
