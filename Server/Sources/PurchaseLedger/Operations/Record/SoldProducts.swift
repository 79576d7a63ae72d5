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
    }

    public func answer(_ reader: LedgerTransaction) throws -> [Product] {
        let app = try reader.app(app)
        return try reader.products.all(appKey: app.key).map {
            Product(
                productID: $0.id, firstKnownAt: $0.firstKnownAt, isRegistered: app.settings.product($0.id) != nil)
        }
    }
}
