/// A product that evidence, an order or a grant named.
public struct ProductMessage: Codable, Sendable, Equatable {
    public var productID: String
    public var firstKnownAt: String
    /// Whether the settings have it.
    public var registered: Bool

    public init(productID: String, firstKnownAt: String, registered: Bool) {
        (self.productID, self.firstKnownAt, self.registered) = (productID, firstKnownAt, registered)
    }

    enum CodingKeys: String, CodingKey {
        case registered
        case productID = "product_id"
        case firstKnownAt = "first_known_at"
    }
}

/// `GET /v1/products`
public struct ProductList: Codable, Sendable, Equatable {
    public var products: [ProductMessage]
    /// The cursor of the next page; absent on the last.
    public var nextCursor: String?

    public init(products: [ProductMessage], nextCursor: String? = nil) {
        (self.products, self.nextCursor) = (products, nextCursor)
    }

    enum CodingKeys: String, CodingKey {
        case products
        case nextCursor = "next_cursor"
    }
}
