/// `POST /v1/purchases/{transaction_id}/move`: transfers a purchase to another customer; for a subscription, all of its
/// periods.
public struct MoveRequest: Codable, Sendable, Equatable {
    /// The new owner.
    public var customerID: String
    /// The environment of the transaction, if there are several of this id.
    public var environment: EnvironmentName?
    /// The reason; it is recorded.
    public var reason: String

    /// A new owner.
    public init(customerID: String, environment: EnvironmentName? = nil, reason: String) {
        self.customerID = customerID
        self.environment = environment
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case environment, reason
        case customerID = "customer_id"
    }
}

extension MoveRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        customerID = members.identifier(CodingKeys.customerID)
        environment = members.optionalIdentifier(CodingKeys.environment).map(EnvironmentName.init(rawValue:))
        reason = members.reason(CodingKeys.reason)
    }
}
