/// `PUT /v1/customers/{id}/consumption_consent`: whether the customer agrees that Apple is told about their use of a
/// purchase when they ask for a refund.
public struct ConsumptionConsentRequest: Codable, Sendable, Equatable {
    public var consented: Bool

    /// A customer's answer.
    public init(consented: Bool) { self.consented = consented }

    enum CodingKeys: String, CodingKey {
        case consented
    }
}

extension ConsumptionConsentRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        let answer = members.flag(CodingKeys.consented)
        if answer == nil { members.miss(CodingKeys.consented.rawValue) }
        consented = answer ?? false
    }
}
