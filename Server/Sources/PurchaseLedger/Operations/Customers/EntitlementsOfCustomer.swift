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
        /// One for each product, environment and kind of purchase.
        public var entitlements: [Entitlement]
        /// The named entitlements of the settings.
        public var named: [NamedAccess]
        /// The customer into whom the named one was merged; `nil` if it was not.
        public var mergedInto: String?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else { return Answer(entitlements: [], named: []) }
        let question = moment.map(AccessQuestion.at) ?? .now(reader.now)
        let entitlements = try Self.uncounted(reader, app, customer: customer, question)
        var answered: [Entitlement]
        if let environment {
            // An environment that the query names is shown as it is.
            answered = entitlements.filter { $0.entitlement.environment == environment }.map { $0.counted(true) }
        } else {
            answered = try Self.counted(entitlements, reader, app, customer)
        }
        answered = try RenewalReading(reader: reader, customer: customer, question: question).added(to: answered)
        return Answer(
            entitlements: answered, named: named(answered, app.settings), mergedInto: customer.survivor(of: customerID))
    }

    /// The current entitlements of a customer, in every environment.
    static func current(
        _ reader: LedgerTransaction, _ app: RegistryApp, customer: CustomerRow
    ) throws(LedgerStorageError) -> [Entitlement] {
        let question = AccessQuestion.now(reader.now)
        let entitlements = try read(reader, app, customer: customer, question)
        return try RenewalReading(reader: reader, customer: customer, question: question).added(
            to: try counted(entitlements, reader, app, customer))
    }

    /// The entitlements of a customer in every environment, before the settings decide which of them count.
    static func uncounted(
        _ reader: LedgerTransaction, _ app: RegistryApp, customer: CustomerRow, _ question: AccessQuestion
    ) throws(LedgerStorageError) -> [UncountedEntitlement] {
        let entitlements = try read(reader, app, customer: customer, question)
        guard !question.isAboutNow else { return entitlements }
        return try PastBalances(reader: reader, app: app).replace(
            entitlements, customer: customer, at: question.moment)
    }

    /// A purchase that does not count is shown with its reason, so that support can explain it.
    private static func counted(
        _ entitlements: [UncountedEntitlement], _ reader: LedgerTransaction, _ app: RegistryApp, _ customer: CustomerRow
    ) throws(LedgerStorageError) -> [Entitlement] {
        var counts: [AppStoreEnvironment: Bool] = [:]
        var answered: [Entitlement] = []
        for uncounted in entitlements {
            let environment = uncounted.entitlement.environment
            if counts[environment] == nil {
                counts[environment] = try reader.counts(environment, for: customer.key, app)
            }
            answered.append(uncounted.counted(counts[environment] ?? false))
        }
        return answered
    }

    /// Reads one range of the primary key, however long the history is.
    private static func read(
        _ reader: LedgerTransaction, _ app: RegistryApp, customer: CustomerRow, _ question: AccessQuestion
    ) throws(LedgerStorageError) -> [UncountedEntitlement] {
        let reading = EntitlementReading(
            app: app.settings, question: question, news: NewsSource(reader: reader, app: app))
        var entitlements: [UncountedEntitlement] = []
        let seats = SeatReading(reader: reader, question: question)
        var rows = try seats.resolved(try reader.entitlements.rows(of: customer.key))[...]
        while let first = rows.first {
            let group = rows.prefix {
                $0.row.productKey == first.row.productKey && $0.row.environment == first.row.environment
            }
            rows = rows.dropFirst(group.count)
            let environment = try reader.environments.environment(first.row.environment)
            entitlements += try reading.entitlements(
                group.map(\.row), productID: first.productID,
                environment: environment)
        }
        return entitlements
    }

    private func named(_ entitlements: [Entitlement], _ app: RegisteredApp) -> [NamedAccess] {
        let products = entitlements.map { entitlement in
            NamedEntitlements.Product(
                productID: ExactText(entitlement.productID), isActive: entitlement.state == .active,
                until: entitlement.until)
        }
        return NamedEntitlements.named(products) { id in
            app.product(id.string)?.entitlements.map { ExactText($0) } ?? []
        }
    }
}
