/// `GET /v1/customers/{id}/entitlements`
public struct EntitlementList: Codable, Sendable, Equatable {
    public var customerID: String
    /// The customer into whom they were merged; absent if they were not.
    public var mergedInto: String?
    /// The time that was asked for; absent means now.
    public var at: String?
    /// One for each product, environment and kind of purchase that was ever the customer's. The same product can appear
    /// twice, if its kind in the settings changed or an operator granted it as another kind.
    public var entitlements: [EntitlementMessage]
    /// One for each named entitlement that a product of the customer's gives or gave.
    public var named: [NamedEntitlementMessage]

    /// The entitlements of a customer.
    public init(
        customerID: String, at: String? = nil, entitlements: [EntitlementMessage], named: [NamedEntitlementMessage]
    ) {
        self.customerID = customerID
        self.at = at
        self.entitlements = entitlements
        self.named = named
    }

    enum CodingKeys: String, CodingKey {
        case at, entitlements, named
        case customerID = "customer_id"
        case mergedInto = "merged_into"
    }
}
