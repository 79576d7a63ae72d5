public import PurchaseVerification

/// Reads what every customer of an app has now, customer by customer, from one committed state.
public struct EntitlementExport: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    /// The only environment; `nil` for all.
    public var environment: AppStoreEnvironment?
    private let body: @Sendable (Row) throws -> Void

    /// An entitlement of a customer.
    public struct Row: Sendable, Equatable {
        public let customerID: String
        public let entitlement: Entitlement
        public let originalTransactionID: String?
    }

    public init(
        app: String, environment: AppStoreEnvironment?, _ body: @escaping @Sendable (Row) throws -> Void
    ) {
        (self.app, self.environment, self.body) = (app, environment, body)
    }

    public func answer(_ reader: LedgerTransaction) throws {
        let app = try reader.app(app)
        var last: Int64 = 0
        while true {
            let customers = try CustomerRow.all(
                "WHERE app_key = ?1 AND customer_key > ?2 ORDER BY customer_key LIMIT 500",
                [.integer(app.key), .integer(last)], reader.connection)
            guard let end = customers.last else { return }
            last = end.key
            // Merged and erased customers have nothing.
            for customer in customers where customer.mergedInto == nil {
                guard let name = customer.name else { continue }
                for entitlement in try EntitlementsOfCustomer.counted(reader, app, customer) {
                    guard environment.map({ $0 == entitlement.environment }) ?? true else { continue }
                    try body(
                        Row(
                            customerID: name, entitlement: entitlement,
                            originalTransactionID: try original(entitlement, reader)))
                }
            }
        }
    }

    private func original(_ entitlement: Entitlement, _ reader: LedgerTransaction) throws -> String? {
        guard let id = entitlement.transactionID,
            let environment = try reader.environments.key(of: entitlement.environment),
            let row = try reader.transactions.rows(id: id).first(where: { $0.environment == environment })
        else { return nil }
        return try OriginalsTable(connection: reader.connection).row(row.originalKey).originalID
    }
}
