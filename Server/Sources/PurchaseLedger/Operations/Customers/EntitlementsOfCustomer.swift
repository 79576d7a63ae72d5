public import PurchaseVerification

/// The entitlements of a customer and, for each product that they ever had, the reason why it gives no access.
public struct EntitlementsOfCustomer: LedgerQuery {
    public static let access = LedgerReadAccess.keys
    /// Past balances are computed from the customer's history.
    public var access: LedgerReadAccess { moment == nil ? .keys : .lists }

    public var app: String
    public var customerID: String
    /// The requested environment; if it is `nil`, every purchase that counts for the customer under the settings.
    public var environment: AppStoreEnvironment?
    /// The requested time; if it is `nil`, now.
    public var moment: Timestamp?

    /// The entitlements of a customer.
    public init(
        app: String, customerID: String, environment: AppStoreEnvironment? = nil, at moment: Timestamp? = nil
    ) {
        self.app = app
        self.customerID = customerID
        self.environment = environment
        self.moment = moment
    }

    /// The answer.
    public struct Answer: Sendable, Equatable {
        /// One for each product and environment.
        public var entitlements: [Entitlement]
        /// The named entitlements of the settings.
        public var named: [NamedAccess]
        /// The customer into whom the named one was merged; `nil` if it was not.
        public var mergedInto: String?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else { return Answer(entitlements: [], named: []) }
        var entitlements = try Self.read(reader, app, customer: customer, at: moment ?? reader.now)
        if let moment {
            entitlements = try PastBalances(reader: reader, app: app).replace(
                entitlements, customer: customer, at: moment)
        }
        let isTester = try TestersTable(connection: reader.connection).contains(customer.key, appKey: app.key)
        entitlements = entitlements.compactMap { entitlement in
            var entitlement = entitlement
            if let environment { return entitlement.environment == environment ? entitlement : nil }
            if !app.settings.sandboxAccess.counts(entitlement.environment, isTester: isTester) {
                // A sandbox purchase that does not count is shown with its reason, so that support can explain it.
                guard entitlement.environment == .sandbox else { return nil }
                entitlement.reason = .sandboxNotAccepted
                entitlement.state = Entitlement.State(entitlement.reason)
                entitlement.balance = 0
            }
            return entitlement
        }
        return Answer(
            entitlements: entitlements, named: named(entitlements, app.settings),
            mergedInto: customer.survivor(of: customerID))
    }

    /// The current entitlements of a customer, in every environment.
    static func current(
        _ reader: LedgerTransaction, _ app: RegistryApp, customer: CustomerRow
    ) throws(LedgerStorageError) -> [Entitlement] {
        try read(reader, app, customer: customer, at: reader.now)
    }

    /// Reads one range of the primary key, however long the history is.
    private static func read(
        _ reader: LedgerTransaction, _ app: RegistryApp, customer: CustomerRow, at moment: Timestamp
    ) throws(LedgerStorageError) -> [Entitlement] {
        let reading = EntitlementReading(app: app.settings, moment: moment)
        var entitlements: [Entitlement] = []
        var rows = try reader.entitlements.rows(of: customer.key)[...]
        while let first = rows.first {
            let group = rows.prefix {
                $0.row.productKey == first.row.productKey && $0.row.environment == first.row.environment
            }
            rows = rows.dropFirst(group.count)
            let environment = try reader.environments.environment(first.row.environment)
            if let entitlement = try reading.entitlement(
                group.map(\.row), productID: first.productID, environment: environment)
            {
                entitlements.append(entitlement)
            }
        }
        return entitlements
    }

    private func named(_ entitlements: [Entitlement], _ app: RegisteredApp) -> [NamedAccess] {
        var named: [NamedAccess] = []
        let names = Set(app.products.values.flatMap(\.entitlements).map { ExactText($0) })
        for name in names.sorted() {
            let giving = entitlements.filter { entitlement in
                app.product(entitlement.productID)?.entitlements.contains { ExactText($0) == name } ?? false
            }
            guard !giving.isEmpty else { continue }
            let active = giving.filter { $0.state == .active }
            let ends = active.map(\.until)
            named.append(
                NamedAccess(
                    name: name, isActive: !active.isEmpty,
                    until: ends.contains(nil) ? nil : ends.compactMap(\.self).max(),
                    products: active.map { ExactText($0.productID) }))
        }
        return named
    }
}
