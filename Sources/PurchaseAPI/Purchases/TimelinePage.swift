/// `GET /v1/customers/{id}/timeline`: a page of what happened to a customer, oldest first.
public struct TimelinePage: Codable, Sendable, Equatable {
    /// The customer of the request.
    public var customerID: String
    /// The customer into whom they were merged.
    public var mergedInto: String?
    public var timeline: [TimelineMessage]
    /// The parameter `cursor` of the next request; absent on the last page.
    public var nextCursor: String?

    /// A page.
    public init(customerID: String, mergedInto: String? = nil, timeline: [TimelineMessage], nextCursor: String? = nil) {
        self.customerID = customerID
        self.mergedInto = mergedInto
        self.timeline = timeline
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case timeline
        case customerID = "customer_id"
        case mergedInto = "merged_into"
        case nextCursor = "next_cursor"
    }
}
