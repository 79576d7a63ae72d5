public import PurchaseVerification

/// The purchases that nobody owns, the last seen first. They give nothing until a claim or an account token names their
/// owner.
public struct HeldPurchases: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The maximum number of rows that a page reads. Where a filter, or another app of the ledger, excludes most of
    /// them, a page can be shorter than its limit; the next page continues.
    static let mostRows = 512

    public var app: String
    public var filter: HeldPurchaseFilter
    /// The cursor that the previous page returned.
    public var before: Int64
    public var limit: Int

    /// A page of purchases.
    public init(
        app: String, filter: HeldPurchaseFilter = HeldPurchaseFilter(), before: Int64 = .max, limit: Int
    ) {
        self.app = app
        self.filter = filter
        self.before = before
        self.limit = limit
    }

    /// A page, and the start of the next one; `nil` if this is the last.
    public struct Answer: Sendable {
        public var purchases: [RecordedPurchase]
        public var next: Int64?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let environment = try filter.environment.map { named throws(LedgerStorageError) in
            // -1 for an environment that no purchase has.
            try reader.environments.key(of: named) ?? -1
        }
        let product = try filter.productID.map { id throws(LedgerStorageError) in
            try reader.products.key(id, appKey: app.key) ?? -1
        }
        let places = try reader.transactions.held(before: before, limit: Int64(Self.mostRows))
        var (withdrawals, renewals) = (PurchaseWithdrawals(reader), PurchaseRenewals(reader))
        var answer = Answer(purchases: [], next: nil)
        var last = before
        for place in places {
            guard answer.purchases.count < max(1, limit) else {
                answer.next = last
                return answer
            }
            last = place.key
            guard place.appKey == app.key, environment.map({ $0 == place.environment }) ?? true,
                product.map({ $0 == place.productKey }) ?? true, let row = try reader.transactions.row(place.key)
            else { continue }
            answer.purchases.append(try reader.purchase(row, &withdrawals, &renewals))
        }
        if places.count == Self.mostRows { answer.next = last }
        return answer
    }
}

/// The filter of a list of held purchases. Fields that are `nil` do not restrict it.
public struct HeldPurchaseFilter: Sendable, Equatable {
    public var environment: AppStoreEnvironment?
    public var productID: String?

    /// All held purchases.
    public init(environment: AppStoreEnvironment? = nil, productID: String? = nil) {
        self.environment = environment
        self.productID = productID
    }
}
