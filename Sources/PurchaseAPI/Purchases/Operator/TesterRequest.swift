/// `PUT /v1/testers/{customer}`; the body may be empty.
public struct TesterRequest: Codable, Sendable, Equatable {
    /// The reason; it is recorded.
    public var reason: String?

    /// A reason.
    public init(reason: String? = nil) { self.reason = reason }

    enum CodingKeys: String, CodingKey {
        case reason
    }
}

extension TesterRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        reason = members.optionalReason(CodingKeys.reason)
    }
}
