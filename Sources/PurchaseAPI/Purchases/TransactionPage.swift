/// Purchases: those of a transaction, or a page of a customer's.
public struct TransactionPage: Codable, Sendable, Equatable {
    public var purchases: [TransactionMessage]
    /// The customer into whom the one of the request was merged; absent if they were not.
    public var mergedInto: String?
    /// The cursor of the next page; absent on the last page.
    public var nextCursor: String?

    /// A page.
    public init(purchases: [TransactionMessage], nextCursor: String? = nil) {
        self.purchases = purchases
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case purchases
        case mergedInto = "merged_into"
        case nextCursor = "next_cursor"
    }
}
