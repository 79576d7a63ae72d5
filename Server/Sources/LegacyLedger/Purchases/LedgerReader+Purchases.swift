public import PurchaseVerification

extension LedgerReader {
    /// The purchase of a transaction.
    public func purchase(
        _ transactionID: String, in environment: AppStoreEnvironment, app: String
    ) throws(LedgerStorageError) -> RecordedPurchase? {
        let rows = try connection.rows(
            """
            SELECT \(RecordedPurchase.columns) FROM purchases
            WHERE app = ?1 AND environment = ?2 AND transaction_id = ?3
            """, [.text(app), .text(environment.name), .text(transactionID)])
        guard let row = rows.first else { return nil }
        return try RecordedPurchase(row)
    }

    /// The purchases of a transaction in all environments of the App Store and those that the app takes now: one, but for local
    /// environments that number their own.
    public func purchases(_ transactionID: String, app: RegisteredApp) throws(LedgerStorageError) -> [RecordedPurchase]
    {
        var purchases: [RecordedPurchase] = []
        // The app may have taken others when it was recorded.
        let environments = app.environments.union([.production, .sandbox, .xcode])
        for environment in environments.sorted(by: { $0.name < $1.name }) {
            if let purchase = try purchase(transactionID, in: environment, app: app.id) { purchases.append(purchase) }
        }
        return purchases
    }

    /// The purchases of a customer, newest first.
    ///
    /// - Parameters:
    ///   - page: where to go on, as the answer before says.
    ///   - limit: how many at most.
    public func purchases(
        of customerID: String, app: String, page: PurchasePage? = nil, limit: Int
    ) throws(LedgerStorageError) -> (purchases: [RecordedPurchase], next: PurchasePage?) {
        var condition = "app = ?1 AND customer_id = ?2"
        var parameters: [LedgerValue] = [.text(app), .text(customerID), .integer(Int64(limit) + 1)]
        if let page {
            condition += """
                 AND (purchased_at < ?4 OR (purchased_at = ?4 AND (environment < ?5
                OR (environment = ?5 AND transaction_id < ?6))))
                """
            parameters += [.time(page.purchasedAt), .text(page.environment), .text(page.transactionID)]
        }
        var purchases: [RecordedPurchase] = []
        for row in try connection.rows(
            """
            SELECT \(RecordedPurchase.columns) FROM purchases WHERE \(condition)
            ORDER BY purchased_at DESC, environment DESC, transaction_id DESC LIMIT ?3
            """, parameters)
        {
            purchases.append(try RecordedPurchase(row))
        }
        guard purchases.count > limit else { return (purchases, nil) }
        purchases.removeLast()
        return (purchases, purchases.last.map(PurchasePage.init))
    }
}

extension LedgerReader {
    /// The products of an app that are registered as another kind than they were sold as. The App Store never changes the kind of
    /// a product, so one of both is a mistake. It reads all purchases.
    public func productsSoldAsAnotherKind(
        _ app: RegisteredApp
    ) throws(LedgerStorageError) -> [(productID: String, sold: ProductKind, registered: ProductKind)] {
        var products: [(productID: String, sold: ProductKind, registered: ProductKind)] = []
        for row in try connection.rows(
            "SELECT DISTINCT product_id, product_type FROM purchases WHERE app = ?1 ORDER BY product_id, product_type",
            [.text(app.id)])
        {
            var reader = RowReader(row)
            let (productID, sold) = (try reader.text(), try reader.named(ProductKind.self))
            guard let registered = app.product(productID)?.kind, registered != sold else { continue }
            products.append((productID, sold, registered))
        }
        return products
    }
}

/// The place in a list of purchases after which it goes on.
public struct PurchasePage: Sendable, Equatable {
    public var purchasedAt: Timestamp
    public var environment: String
    public var transactionID: String

    /// The place after a purchase.
    public init(_ purchase: RecordedPurchase) {
        self.init(
            purchasedAt: purchase.purchasedAt, environment: purchase.environment.name,
            transactionID: purchase.transactionID)
    }

    /// A place by its parts.
    public init(purchasedAt: Timestamp, environment: String, transactionID: String) {
        self.purchasedAt = purchasedAt
        self.environment = environment
        self.transactionID = transactionID
    }
}
