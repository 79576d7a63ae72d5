public import PurchaseVerification

/// The products that evidence, orders or grants of an app ever named, in the order of their ids.
public struct SoldProducts: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String

    /// The products of an app.
    public init(app: String) { self.app = app }

    /// A product.
    public struct Product: Sendable, Equatable {
        public var productID: String
        public var firstKnownAt: Timestamp
        /// Whether the settings have it.
        public var isRegistered: Bool
        /// How many originals of it give nothing, because the settings do not name the product or state another kind.
        public var uncounted: Int
    }

    public func answer(_ reader: LedgerTransaction) throws -> [Product] {
        let app = try reader.app(app)
        var products: [Product] = []
        for product in try reader.products.all(appKey: app.key) {
            products.append(
                Product(
                    productID: product.id, firstKnownAt: product.firstKnownAt,
                    isRegistered: app.settings.product(product.id) != nil,
                    uncounted: try reader.transactions.originalsWithoutKind(product: product.key).count))
        }
        return products
    }
}
