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
        self.transactionID = transactionID
        self.environment = environment
        self.grantID = grantID
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
