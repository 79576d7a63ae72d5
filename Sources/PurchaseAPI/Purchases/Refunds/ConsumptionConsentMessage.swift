/// The answer to `PUT` and `GET /v1/customers/{id}/consumption_consent`.
public struct ConsumptionConsentMessage: Codable, Sendable, Equatable {
    public var customerID: String
    /// Whether the customer agreed; absent if no answer is recorded, which counts as no.
    public var consented: Bool?
    /// Since when the answer is in force.
    public var since: String?
    /// The customer into whom the one of the request was merged; absent if they were not.
    public var mergedInto: String?

    public init(customerID: String, consented: Bool? = nil, since: String? = nil, mergedInto: String? = nil) {
        (self.customerID, self.consented, self.since, self.mergedInto) = (customerID, consented, since, mergedInto)
    }

    enum CodingKeys: String, CodingKey {
        case consented, since
        case customerID = "customer_id"
        case mergedInto = "merged_into"
    }
}

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
