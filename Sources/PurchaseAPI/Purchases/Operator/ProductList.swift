/// `GET /v1/products`
public struct ProductList: Codable, Sendable, Equatable {
    public var products: [ProductMessage]

    /// The products of an app.
    public init(products: [ProductMessage]) {
        self.products = products
    }

    enum CodingKeys: String, CodingKey {
        case products
    }
}
