/// Purchases: those of a transaction, or a page of a customer's.
public struct TransactionPage: Codable, Sendable, Equatable {
    public var purchases: [TransactionMessage]
    /// Where the next page begins; absent on the last.
    public var nextCursor: String?

    /// A page.
    public init(purchases: [TransactionMessage], nextCursor: String? = nil) {
        self.purchases = purchases
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case purchases
        case nextCursor = "next_cursor"
    }
}
