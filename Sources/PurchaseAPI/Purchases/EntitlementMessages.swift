/// What a customer may use of a product, and why.
public struct EntitlementMessage: Codable, Sendable, Equatable {
    public var productID: String
    public var type: TransactionMessage.ProductType
    public var environment: EnvironmentName
    public var state: State
    /// How many are left; only of consumables.
    public var balance: Int64?
    public var since: String
    /// Until when; absent where it does not end.
    public var until: String?
    /// The transaction that it rests on.
    public var transactionID: String
    /// Why it is so.
    public var why: Reason
    public var updatedAt: String

    /// An entitlement by its parts.
    public init(
        productID: String, type: TransactionMessage.ProductType, environment: EnvironmentName, state: State,
        balance: Int64?,
        since: String, until: String?, transactionID: String, why: Reason, updatedAt: String
    ) {
        self.productID = productID
        self.type = type
        self.environment = environment
        self.state = state
        self.balance = balance
        self.since = since
        self.until = until
        self.transactionID = transactionID
        self.why = why
        self.updatedAt = updatedAt
    }

    enum CodingKeys: String, CodingKey {
        case productID = "product_id"
        case type, environment, state, balance, since, until, why
        case transactionID = "transaction_id"
        case updatedAt = "updated_at"
    }
}

/// `GET /v1/customers/{id}/entitlements`
public struct EntitlementList: Codable, Sendable, Equatable {
    public var customerID: String
    public var entitlements: [EntitlementMessage]

    /// The entitlements of a customer.
    public init(customerID: String, entitlements: [EntitlementMessage]) {
        self.customerID = customerID
        self.entitlements = entitlements
    }

    enum CodingKeys: String, CodingKey {
        case customerID = "customer_id"
        case entitlements
    }
}

/// `POST /v1/customers/{id}/consume`: takes from a consumable's balance.
public struct ConsumptionRequest: Codable, Sendable, Equatable {
    public var productID: String
    /// 1, where it is left out.
    public var quantity: Int64?
    /// The sender's name for it, so that it is made once; the `Idempotency-Key`, where it is left out.
    public var consumptionID: String?
    /// Of which balance; the only one, or that of production, where it is left out.
    public var environment: EnvironmentName?

    /// A consumption by its parts.
    public init(
        productID: String, quantity: Int64? = nil, consumptionID: String? = nil,
        environment: EnvironmentName? = nil
    ) {
        self.productID = productID
        self.quantity = quantity
        self.consumptionID = consumptionID
        self.environment = environment
    }

    enum CodingKeys: String, CodingKey {
        case productID = "product_id"
        case quantity, environment
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

/// Something taken from a balance.
public struct ConsumptionMessage: Codable, Sendable, Equatable {
    public var consumptionID: String
    public var customerID: String
    public var productID: String
    public var environment: EnvironmentName
    public var quantity: Int64
    /// What was left then.
    public var balance: Int64
    public var consumedAt: String
    /// Whether an earlier request took it.
    public var replayed: Bool

    /// A consumption by its parts.
    public init(
        consumptionID: String, customerID: String, productID: String, environment: EnvironmentName,
        quantity: Int64,
        balance: Int64, consumedAt: String, replayed: Bool
    ) {
        self.consumptionID = consumptionID
        self.customerID = customerID
        self.productID = productID
        self.environment = environment
        self.quantity = quantity
        self.balance = balance
        self.consumedAt = consumedAt
        self.replayed = replayed
    }

    enum CodingKeys: String, CodingKey {
        case consumptionID = "consumption_id"
        case customerID = "customer_id"
        case productID = "product_id"
        case environment, quantity, balance, replayed
        case consumedAt = "consumed_at"
    }
}
