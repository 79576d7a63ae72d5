/// An event of a customer, or a claim that was rejected.
public struct TimelineMessage: Codable, Sendable, Equatable {
    public var at: String
    /// The time of the last of several equal rejections.
    public var lastAt: String?
    /// The number of equal rejections in succession.
    public var count: Int
    /// The type of the event, or `claim_rejected`.
    public var type: String
    /// A sentence for people.
    public var text: String
    /// The code of a rejection.
    public var code: String?
    /// The kind of the journal entry from which it was learned.
    public var source: String
    public var environment: String?
    public var productID: String?
    public var transactionID: String?
    public var orderID: String?
    public var formerCustomerID: String?
    public var units: Int64?
    public var balance: Int64?
    public var until: String?
    public var reason: String?
    /// The entry of the record.
    public var entryID: String

    /// An entry with its required parts.
    public init(at: String, count: Int, type: String, text: String, source: String, entryID: String) {
        (self.at, self.count, self.type, self.text) = (at, count, type, text)
        (self.source, self.entryID) = (source, entryID)
    }

    enum CodingKeys: String, CodingKey {
        case at, count, type, text, code, source, environment, units, balance, until, reason
        case lastAt = "last_at"
        case productID = "product_id"
        case transactionID = "transaction_id"
        case orderID = "order_id"
        case formerCustomerID = "former_customer_id"
        case entryID = "entry_id"
    }
}

/// `GET /v1/customers/{id}/timeline`: a page of what happened to a customer, oldest first.
public struct TimelinePage: Codable, Sendable, Equatable {
    /// The customer of the request.
    public var customerID: String
    /// The customer into whom they were merged.
    public var mergedInto: String?
    public var timeline: [TimelineMessage]
    /// The parameter `cursor` of the next request; absent on the last page.
    public var nextCursor: String?

    public init(customerID: String, mergedInto: String? = nil, timeline: [TimelineMessage], nextCursor: String? = nil) {
        (self.customerID, self.mergedInto, self.timeline) = (customerID, mergedInto, timeline)
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case timeline
        case customerID = "customer_id"
        case mergedInto = "merged_into"
        case nextCursor = "next_cursor"
    }
}
