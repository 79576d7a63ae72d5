/// A page of orders.
public struct OrderPage: Codable, Sendable, Equatable {
    public var orders: [OrderMessage]
    /// Where the next page begins; absent on the last.
    public var nextCursor: String?

    /// A page.
    public init(orders: [OrderMessage], nextCursor: String? = nil) {
        self.orders = orders
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case orders
        case nextCursor = "next_cursor"
    }
}
