/// A page of orders.
public struct OrderPage: Codable, Sendable, Equatable {
    public var orders: [OrderMessage]
    /// The cursor of the next page; absent on the last page.
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
