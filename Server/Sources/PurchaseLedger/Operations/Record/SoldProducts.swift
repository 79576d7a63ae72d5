public import PurchaseAPI
public import PurchaseVerification

/// The products that evidence, orders or grants of an app ever named, ordered by id.
public struct SoldProducts: LedgerList {
    public var app: String
    public var cursor: Int64?
    public var limit: Int

    /// A page of products.
    public init(app: String, after cursor: Int64? = nil, limit: Int = 500) {
        (self.app, self.cursor, self.limit) = (app, cursor, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> ListPage<ProductMessage, Int64> {
        let app = try reader.app(app)
        return try ListPage(
            after: cursor, limit: limit,
            rows: { (place, limit) -> [ProductRow] in
                // The list is in the order of the ids.
                let last = try place.map { try reader.products.id($0, appKey: app.key) } ?? ""
                guard let last else { return [] }
                return try reader.products.page(appKey: app.key, after: last, limit: Int64(limit))
            }, cursor: \.key,
            select: {
                ProductMessage(
                    productID: $0.id, firstKnownAt: "\($0.firstKnownAt)", registered: app.settings.product($0.id) != nil
                )
            })
    }
}

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

/// The refused claims since a time that were only counted, because an API key or an app was beyond its daily budget.
public struct CountedRefusalsOfDay: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    let since: Timestamp

    /// The refusals since a time.
    public init(since: Timestamp) { self.since = since }

    /// The number of each API key; the name is empty where there was none.
    public func answer(_ transaction: LedgerTransaction) throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for row in try JournalTable(connection: transaction.connection).refusals(since: since) {
            guard let details = row.details else { continue }
            let refusals = try RefusalsDetails(encoded: details)
            if refusals.since != nil { counts[refusals.keyID ?? "", default: 0] += refusals.count }
        }
        return counts
    }
}
