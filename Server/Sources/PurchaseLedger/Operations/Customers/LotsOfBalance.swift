public import PurchaseVerification

/// The purchases and grants that a customer's units of a consumable come from.
public struct LotsOfBalance: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var customerID: String
    public var productID: String
    public var environment: AppStoreEnvironment
    /// The largest number of lots with units left, and of lots without.
    public var limit: Int

    /// The lots of a balance.
    public init(app: String, customerID: String, productID: String, environment: AppStoreEnvironment, limit: Int) {
        (self.app, self.customerID, self.productID) = (app, customerID, productID)
        (self.environment, self.limit) = (environment, limit)
    }

    /// The lots.
    public struct Answer: Sendable, Equatable {
        /// Those with units left, in the order in which their units are used.
        public var available: [BalanceLot]
        /// Those without, the newest purchase first.
        public var empty: [BalanceLot]
        /// Whether there are more of either.
        public var hasMore: Bool
    }

    /// - Throws: `customer_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        guard let product = try reader.products.key(productID, appKey: app.key),
            let environment = try reader.environments.key(of: environment)
        else { return Answer(available: [], empty: [], hasMore: false) }
        let table = LotsTable(connection: reader.connection)
        let most = Int64(limit) + 1
        let available = try table.available(customer.key, product: product, environment: environment, limit: most)
        let empty = try table.empty(customer.key, product: product, environment: environment, limit: most)
        return Answer(
            available: try available.prefix(limit).map { try BalanceLot($0, reader) },
            empty: try empty.prefix(limit).map { try BalanceLot($0, reader) },
            hasMore: available.count > limit || empty.count > limit)
    }
}
