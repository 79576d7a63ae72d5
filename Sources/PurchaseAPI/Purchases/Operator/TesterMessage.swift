/// Whether a customer is a tester, for whom sandbox purchases count.
public struct TesterMessage: Codable, Sendable, Equatable {
    public var customerID: String
    /// The customer into whom they were merged; absent if they were not.
    public var mergedInto: String?
    public var tester: Bool
    /// Whether the customer already had this state.
    public var replayed: Bool

    /// A customer, and whether they are a tester.
    public init(customerID: String, tester: Bool, replayed: Bool) {
        (self.customerID, self.tester, self.replayed) = (customerID, tester, replayed)
    }

    enum CodingKeys: String, CodingKey {
        case tester, replayed
        case customerID = "customer_id"
        case mergedInto = "merged_into"
    }
}

/// `GET /v1/testers`
public struct TesterNames: Codable, Sendable, Equatable {
    /// Their customer ids.
    public var testers: [String]
    /// The cursor of the next page; absent on the last.
    public var nextCursor: String?

    public init(testers: [String], nextCursor: String? = nil) {
        (self.testers, self.nextCursor) = (testers, nextCursor)
    }

    enum CodingKeys: String, CodingKey {
        case testers
        case nextCursor = "next_cursor"
    }
}

/// `PUT /v1/testers/{customer}`; the body may be empty.
public struct TesterRequest: Codable, Sendable, Equatable {
    /// The reason; it is recorded.
    public var reason: String?

    public init(reason: String? = nil) { self.reason = reason }

    enum CodingKeys: String, CodingKey {
        case reason
    }
}

extension TesterRequest: RequestMessage {
    public init(members: inout RequestMembers) { reason = members.optionalReason(CodingKeys.reason) }
}
