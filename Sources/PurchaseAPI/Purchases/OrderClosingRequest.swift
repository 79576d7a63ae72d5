/// `POST /v1/orders/{id}/close`: why an order ends.
public struct OrderClosingRequest: Codable, Sendable, Equatable {
    public var reason: String

    /// The end of an order, with the operator's reason.
    public init(reason: String) { self.reason = reason }

    enum CodingKeys: String, CodingKey {
        case reason
    }
}

extension OrderClosingRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        reason = members.reason(CodingKeys.reason)
    }
}
