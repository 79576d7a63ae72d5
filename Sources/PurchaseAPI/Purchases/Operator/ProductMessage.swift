/// A product that evidence, an order or a grant named.
public struct ProductMessage: Codable, Sendable, Equatable {
    public var productID: String
    public var firstKnownAt: String
    /// Whether the settings have it.
    public var registered: Bool

    /// A product by its parts.
    public init(productID: String, firstKnownAt: String, registered: Bool) {
        self.productID = productID
        self.firstKnownAt = firstKnownAt
        self.registered = registered
    }

    enum CodingKeys: String, CodingKey {
        case registered
        case productID = "product_id"
        case firstKnownAt = "first_known_at"
    }
}
