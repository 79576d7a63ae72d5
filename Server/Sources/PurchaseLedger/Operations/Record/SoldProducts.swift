public import PurchaseVerification

/// The products that evidence, orders or grants of an app ever named, ordered by id.
public struct SoldProducts: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    /// The position at which the previous page ended.
    public var after: Int64?
    public var limit: Int

    /// A page of products.
    public init(app: String, after: Int64? = nil, limit: Int) {
        self.app = app
        self.after = after
        self.limit = limit
    }

    /// A page, and the start of the next one; `nil` if this is the last.
    public struct Answer: Sendable {
        public var products: [Product]
        public var next: Int64?
    }

    /// A product.
    public struct Product: Sendable, Equatable {
        public var productID: String
        public var firstKnownAt: Timestamp
        /// Whether the settings include it.
        public var isRegistered: Bool
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let count = max(1, limit)
        var last = ""
        if let after {
            guard let known = try reader.products.id(after, appKey: app.key) else { return Answer(products: []) }
            last = known
        }
        let rows = try reader.products.page(appKey: app.key, after: last, limit: Int64(count) + 1)
        let products = rows.prefix(count).map {
            Product(
                productID: $0.id, firstKnownAt: $0.firstKnownAt, isRegistered: app.settings.product($0.id) != nil)
        }
        return Answer(products: products, next: rows.count > count ? rows.prefix(count).last?.key : nil)
    }
}
