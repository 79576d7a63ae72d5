import PurchaseAPI
public import PurchaseVerification

/// Makes every entitlement that leaves the ledger, from rows: the answers to claims, restores, consumptions and
/// queries.
struct EntitlementReading {
    let app: RegisteredApp
    let question: AccessQuestion
    /// The source of news without which no access is assumed; `nil` if it decides nothing, as for a balance.
    var news: NewsSource?

    /// The entitlements to one product in one environment, one for each kind of its purchases, before the setting
    /// `sandbox_access` is applied.
    ///
    /// - Parameter rows: the rows of all of its grounds.
    func entitlements(
        _ rows: [EntitlementRow], productID: String, environment: AppStoreEnvironment
    ) throws(LedgerStorageError) -> [UncountedEntitlement] {
        var entitlements: [UncountedEntitlement] = []
        for kind in ProductKind.allCases {
            let rows = rows.filter { $0.kind == kind }
            guard let first = rows.first else { continue }
            entitlements.append(try entitlement(rows, first, productID: productID, environment: environment))
        }
        return entitlements
    }

    private func entitlement(
        _ rows: [EntitlementRow], _ first: EntitlementRow, productID: String, environment: AppStoreEnvironment
    ) throws(LedgerStorageError) -> UncountedEntitlement {
        var assumed: Entitlement?
        var entitlement = Entitlement(
            productID: productID, environment: environment, productKind: first.kind, state: .pending,
            reason: .notStarted, balance: 0, shortfall: 0)
        if rows.contains(where: { $0.timeline == nil }) {
            var balance = ConsumableBalance()
            for row in rows where row.timeline == nil {
                balance.remaining += row.balance
                balance.shortfall += row.shortfall
            }
            entitlement.balance = balance.available(under: app.refundShortfall)
            entitlement.shortfall = balance.shortfall
            let own = rows.first { $0.ground == EntitlementRow.wholeGround } ?? first
            entitlement.reason = entitlement.balance > 0 ? nil : own.reason ?? .consumed
        } else {
            var timelines: [AccessTimeline] = []
            for row in rows {
                guard let timeline = row.timeline else { continue }
                let access = try AccessTimeline(encoded: timeline, environment: environment)
                timelines.append(access)
                if let grant = row.grant, access.state(question)?.step.givesAccess ?? false {
                    entitlement.grantKeys.append(grant)
                }
            }
            var access = ProductAccess(
                productID: ExactText(productID), environment: environment, kind: first.kind, denial: .notStarted)
            access.read(timelines, question)
            entitlement.read(access)
            access.read(timelines, question, tolerance: app.lapseTolerance)
            if access.isAssumed, try news?.tells(of: environment) ?? false {
                assumed = entitlement
                assumed?.read(access)
            }
        }
        if entitlement.reason == .productUnknown, isRegistered(productID) { entitlement.reason = .productKindMismatch }
        entitlement.state = Entitlement.State(entitlement.reason)
        return UncountedEntitlement(entitlement: entitlement, assumed: assumed)
    }

    /// Whether the settings have the product. If they do and the purchase still does not count, its evidence states
    /// another kind. The tables store only that it does not count, because settings change independently of them.
    private func isRegistered(_ productID: String) -> Bool {
        guard let product = app.product(productID) else { return false }
        return product.kind != .nonRenewing || product.duration != nil
    }
}

extension EntitlementRow {
    /// The grant that it is about; `nil` for purchases.
    fileprivate var grant: Int64? {
        ground < 0 && ground != Self.passGround && seatEntry == nil ? -ground : nil
    }
}

extension Entitlement {
    fileprivate mutating func read(_ access: ProductAccess) {
        reason = access.isInGrace ? .inGrace : access.denial
        state = State(reason)
        (since, until, isAssumed) = (access.since, access.until, access.isAssumed)
        transactionID = access.transaction?.transactionID.string
    }
}

extension LedgerTransaction {
    /// The entitlement of a customer to one product and kind, before `sandbox_access` is applied.
    ///
    /// - Parameter kind: the kind of the purchase; if it is `nil` or unknown, the only kind that the customer has.
    /// - Returns: the whole entitlement, and the one without claimed seats. Those give access by purchases of others,
    ///   on which no claim depends.
    func entitlement(
        of customer: Int64, product: Int64, kind: ProductKind?, productID: String, environment: Int64, app: RegistryApp
    ) throws(LedgerStorageError) -> (whole: UncountedEntitlement?, own: UncountedEntitlement?) {
        let question = AccessQuestion.now(now)
        let rows = try entitlements.rows(of: customer, product: product, environment: environment)
        let name = try environments.environment(environment)
        let reading = EntitlementReading(
            app: app.settings, question: question, news: NewsSource(reader: self, app: app))
        func entitlement(_ rows: [EntitlementRow]) throws(LedgerStorageError) -> UncountedEntitlement? {
            let found = try reading.entitlements(rows, productID: productID, environment: name)
            return found.first { $0.entitlement.productKind == kind } ?? (kind == .consumable ? nil : found.first)
        }
        let ownRows = rows.filter { $0.seatEntry == nil }
        let own = try entitlement(ownRows)
        guard ownRows.count < rows.count else { return (own, own) }
        return (try entitlement(try SeatReading(reader: self, question: question).resolved(rows)), own)
    }

    /// Whether purchases of an environment count for a customer, by the setting `sandbox_access` as it is now.
    func counts(
        _ environment: AppStoreEnvironment, for customer: Int64?, _ app: RegistryApp
    ) throws(LedgerStorageError) -> Bool {
        var isTester = false
        if environment != .production, app.settings.sandboxAccess == .testers, let customer {
            isTester = try TestersTable(connection: connection).contains(customer, appKey: app.key)
        }
        return app.settings.sandboxAccess.counts(environment, isTester: isTester)
    }

    /// The entitlement of a customer as it leaves the ledger.
    func counted(
        _ uncounted: UncountedEntitlement?, of customer: Int64, _ app: RegistryApp
    ) throws(LedgerStorageError) -> Entitlement? {
        guard let uncounted else { return nil }
        return uncounted.counted(try counts(uncounted.entitlement.environment, for: customer, app))
    }
}

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
        try RenewalReading(reader: reader, customer: customer, question: .now(reader.now)).added(
            to: try counted(reader, app, customer))
    }

    /// The same, without what is signed about them.
    static func counted(
        _ reader: LedgerTransaction, _ app: RegistryApp, _ customer: CustomerRow
    ) throws(LedgerStorageError) -> [Entitlement] {
        try counted(try read(reader, app, customer: customer, .now(reader.now)), reader, app, customer)
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

extension HandGrantMessage {
    init(_ row: HandGrantRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        let connection = reader.connection
        self.init(
            id: row.id.text, productID: try reader.products.id(row.productKey),
            environment: EnvironmentName(try reader.environments.environment(row.environment)),
            quantity: row.kind == .revocation ? nil : row.quantity, from: "\(row.startsAt)")
        revokedOriginalTransactionID = try row.revokedOriginal.map { key throws(LedgerStorageError) in
            try OriginalsTable(connection: connection).row(key).originalID
        }
        revokedGrantID = try row.revokedGrant.flatMap { key throws(LedgerStorageError) in
            try HandGrantsTable(connection: connection).row(key: key)?.id.text
        }
        (until, liftedAt) = (row.endsAt.map { "\($0)" }, row.liftedAt.map { "\($0)" })
    }
}
