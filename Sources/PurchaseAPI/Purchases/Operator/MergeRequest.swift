/// `POST /v1/customers/{id}/merge`: merges the customer in the path, such as an anonymous one, into another. It cannot
/// be undone.
public struct MergeRequest: Codable, Sendable, Equatable {
    /// The customer who remains and keeps the purchases of both.
    public var into: String
    /// The reason; it is recorded.
    public var reason: String?

    /// A merge into a customer.
    public init(into: String, reason: String? = nil) {
        self.into = into
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case into, reason
    }
}

extension MergeRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        into = members.identifier(CodingKeys.into)
        reason = members.optionalReason(CodingKeys.reason)
    }
}
