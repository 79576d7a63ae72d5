/// `GET /v1/products`
public struct ProductList: Codable, Sendable, Equatable {
    public var products: [ProductMessage]
    /// The cursor of the next page; absent on the last.
    public var nextCursor: String?

    /// A page.
    public init(products: [ProductMessage], nextCursor: String? = nil) {
        self.products = products
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case products
        case nextCursor = "next_cursor"
    }
}
