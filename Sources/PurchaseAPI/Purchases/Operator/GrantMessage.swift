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
        (self.grantID, self.customerID, self.productID) = (grantID, customerID, productID)
        (self.environment, self.quantity, self.until, self.reason) = (environment, quantity, until, reason)
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
        (self.productID, self.quantity, self.environment, self.until) = (productID, quantity, environment, until)
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

/// An operator's grant or revocation, as `assay show` has it.
public struct HandGrantMessage: Codable, Sendable, Equatable {
    /// The id with which it can be lifted.
    public var id: String
    /// `grant` or `revocation`.
    public var kind: String
    public var productID: String
    public var environment: EnvironmentName
    /// Units of a granted consumable; absent for a revocation.
    public var quantity: Int64?
    /// The original transaction that it revokes.
    public var revokedOriginalTransactionID: String?
    public var revokedGrantID: String?
    public var from: String
    public var until: String?
    public var liftedAt: String?

    public var isRevocation: Bool { kind == "revocation" }

    /// - Parameter quantity: the units of a grant; `nil` for a revocation.
    public init(id: String, productID: String, environment: EnvironmentName, quantity: Int64?, from: String) {
        (self.id, self.productID, self.environment, self.from) = (id, productID, environment, from)
        (kind, self.quantity) = (quantity == nil ? "revocation" : "grant", quantity)
    }

    enum CodingKeys: String, CodingKey {
        case id, kind, environment, quantity, from, until
        case productID = "product_id"
        case revokedOriginalTransactionID = "revoked_original_transaction_id"
        case revokedGrantID = "revoked_grant_id"
        case liftedAt = "lifted_at"
    }
}
