/// The products of an app whose purchases give nothing, because the settings do not name the product or state another
/// kind.
public struct UncountedProducts: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The maximum number of purchases that are counted per product, so that a start does not read all of them.
    public static let counted: Int64 = 1000
    private static let page: Int64 = 256

    public var app: String

    /// The products of an app.
    public init(app: String) { self.app = app }

    /// A product.
    public struct Product: Sendable, Equatable {
        public var productID: String
        /// Whether the settings include it, with another kind.
        public var isRegistered: Bool
        /// The number of its originals that give nothing; at most `counted`.
        public var uncounted: Int
        /// Whether `uncounted` is the full number.
        public var isCountedWhole: Bool { uncounted < UncountedProducts.counted }
    }

    public func answer(_ reader: LedgerTransaction) throws -> [Product] {
        let app = try reader.app(app)
        var products: [Product] = []
        var last: String? = ""
        while let after = last {
            let rows = try reader.products.page(appKey: app.key, after: after, limit: Self.page)
            for row in rows {
                let count = try reader.transactions.originalsWithoutKind(product: row.key, limit: Self.counted).count
                guard count > 0 else { continue }
                products.append(
                    Product(
                        productID: row.id, isRegistered: app.settings.product(row.id) != nil, uncounted: count))
            }
            last = rows.last?.id
        }
        return products
    }
}
