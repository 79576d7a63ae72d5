public import PurchaseVerification

/// The purchases that nobody owns, the last seen first. They give nothing until a claim or an account token names their
/// owner.
public struct HeldPurchases: LedgerList {
    public var app: String
    public var filter: HeldPurchaseFilter
    public var cursor: Int64?
    public var limit: Int

    /// A page of purchases.
    public init(
        app: String, filter: HeldPurchaseFilter = HeldPurchaseFilter(), before cursor: Int64? = nil, limit: Int = 50
    ) {
        (self.app, self.filter, self.cursor, self.limit) = (app, filter, cursor, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> ListPage<RecordedPurchase, Int64> {
        let app = try reader.app(app)
        let environment = try filter.environment.map { named throws(LedgerStorageError) in
            // -1 for an environment that no purchase has.
            try reader.environments.key(of: named) ?? -1
        }
        let product = try filter.productID.map { id throws(LedgerStorageError) in
            try reader.products.key(id, appKey: app.key) ?? -1
        }
        var (withdrawals, renewals) = (PurchaseWithdrawals(reader), PurchaseRenewals(reader))
        // The index has the purchases of all apps.
        return try ListOrder<Place, Int64>(
            reader.connection, [ListIndex("owner_key IS NULL AND product_key <> 0")], by: ["transaction_key"],
            cursor: \.key
        ).page(after: cursor, limit: limit) { place in
            guard place.appKey == app.key, environment.map({ $0 == place.environment }) ?? true,
                product.map({ $0 == place.productKey }) ?? true
            else { return nil }
            return try reader.transactions.row(place.key)
        }.map { try reader.purchase($0, &withdrawals, &renewals) }
    }

    private struct Place: ListedRow {
        static let selection = """
            SELECT transaction_key,
            (SELECT app_key FROM originals WHERE originals.original_key = transactions.original_key),
            environment, product_key FROM transactions
            """

        let key, appKey, environment, productKey: Int64

        init(_ reader: inout RowReader) throws(LedgerStorageError) {
            (key, appKey) = (try reader.integer(), try reader.integer())
            (environment, productKey) = (try reader.integer(), try reader.integer())
        }
    }
}

/// The filter of a list of held purchases. Fields that are `nil` do not restrict it.
public struct HeldPurchaseFilter: Sendable, Equatable {
    public var environment: AppStoreEnvironment?
    public var productID: String?

    /// All held purchases.
    public init(environment: AppStoreEnvironment? = nil, productID: String? = nil) {
        (self.environment, self.productID) = (environment, productID)
    }
}
