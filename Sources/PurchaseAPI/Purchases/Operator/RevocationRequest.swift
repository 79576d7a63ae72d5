/// `POST /v1/customers/{id}/revocations`: revokes a purchase or a grant of a customer, even if Apple's facts say
/// otherwise.
public struct RevocationRequest: Codable, Sendable, Equatable {
    /// A transaction of the purchase; for a subscription, all of its periods are revoked.
    public var transactionID: String?
    /// The environment of the transaction, if there are several of this id.
    public var environment: EnvironmentName?
    /// A grant by an operator.
    public var grantID: String?
    /// The reason; it is recorded.
    public var reason: String

    /// A revocation of a purchase or of a grant.
    public init(
        transactionID: String? = nil, environment: EnvironmentName? = nil, grantID: String? = nil, reason: String
    ) {
        (self.transactionID, self.environment, self.grantID) = (transactionID, environment, grantID)
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case environment, reason
        case transactionID = "transaction_id"
        case grantID = "grant_id"
    }
}

extension RevocationRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        transactionID = members.optionalIdentifier(CodingKeys.transactionID)
        environment = members.optionalIdentifier(CodingKeys.environment).map(EnvironmentName.init(rawValue:))
        grantID = members.optionalIdentifier(CodingKeys.grantID)
        reason = members.reason(CodingKeys.reason)
        let targets = "\(CodingKeys.transactionID.rawValue) or \(CodingKeys.grantID.rawValue)"
        if transactionID == nil && grantID == nil { members.miss(targets) }
        if transactionID != nil && grantID != nil { members.refuse(CodingKeys.grantID, "\(targets), not both") }
    }
}

/// A revocation by an operator.
public struct RevocationMessage: Codable, Sendable, Equatable {
    /// Lifts it: `DELETE /v1/customers/{id}/revocations/{revocation_id}`.
    public var revocationID: String
    public var customerID: String
    /// The customer into whom they were merged; absent if they were not.
    public var mergedInto: String?
    public var transactionID: String?
    public var grantID: String?
    /// The reason; it is recorded.
    public var reason: String

    public init(
        revocationID: String, customerID: String, transactionID: String? = nil, grantID: String? = nil, reason: String
    ) {
        (self.revocationID, self.customerID, self.transactionID) = (revocationID, customerID, transactionID)
        (self.grantID, self.reason) = (grantID, reason)
    }

    enum CodingKeys: String, CodingKey {
        case reason
        case revocationID = "revocation_id"
        case customerID = "customer_id"
        case mergedInto = "merged_into"
        case transactionID = "transaction_id"
        case grantID = "grant_id"
    }
}
