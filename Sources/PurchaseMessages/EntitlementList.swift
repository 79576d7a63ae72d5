/// `GET /v1/customers/{id}/entitlements` and `GET /v1/me/entitlements`
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

    /// The header in which an app names its customer: a customer token, or the id of a guest.
    public static let customerHeader = "Assay-Customer"

    /// The entitlements of a customer.
    public init(
        customerID: String, at: String? = nil, entitlements: [EntitlementMessage], named: [NamedEntitlementMessage]
    ) {
        (self.customerID, self.at, self.entitlements, self.named) = (customerID, at, entitlements, named)
    }

    enum CodingKeys: String, CodingKey {
        case at, entitlements, named
        case customerID = "customer_id"
        case mergedInto = "merged_into"
    }
}

/// A named entitlement of the settings, such as `pro`, which several products can give.
public struct NamedEntitlementMessage: Codable, Sendable, Equatable {
    public var name: String
    /// `active` or `inactive`.
    public var state: EntitlementMessage.State
    /// The latest end of its active products; absent if there is none, or if one of them has no end.
    public var until: String?
    /// The active products that give it.
    public var products: [String]

    public init(name: String, state: EntitlementMessage.State, until: String? = nil, products: [String]) {
        (self.name, self.state, self.until, self.products) = (name, state, until, products)
    }

    enum CodingKeys: String, CodingKey {
        case name, state, until, products
    }
}
