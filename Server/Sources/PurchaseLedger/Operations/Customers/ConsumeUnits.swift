public import PurchaseAPI
public import PurchaseVerification

/// Consumes units of a balance, the oldest purchase first. The consumption id makes it idempotent.
public struct ConsumeUnits: LedgerOperation {
    /// The maximum number of lots of one consumption; more would hold the database for too long.
    private static let lotLimit: Int64 = 10_000

    public var app: String
    public var customerID: String
    public var productID: String
    public var quantity: Int64
    public var consumptionID: String
    /// The environment of the balance. If it is `nil`: Production, or Sandbox for a tester whose Production balance is
    /// insufficient.
    public var environment: AppStoreEnvironment?
    public var once: IdempotentRequest?

    /// Units of a customer's balance.
    public init(
        app: String, customerID: String, productID: String, quantity: Int64, consumptionID: String,
        environment: AppStoreEnvironment? = nil, once: IdempotentRequest? = nil
    ) {
        self.app = app
        self.customerID = customerID
        self.productID = productID
        self.quantity = quantity
        self.consumptionID = consumptionID
        self.environment = environment
        self.once = once
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    public func perform(_ transaction: LedgerTransaction) throws -> ConsumptionMessage {
        let app = try transaction.app(app)
        guard quantity > 0, ExactText(consumptionID).isIdentifier else {
            throw LedgerRefusal(.fieldMalformed, expected: "a quantity from 1, and a consumption_id")
        }
        _ = try once?.earlierEntry(transaction)
        let knownProduct = try transaction.products.key(productID, appKey: app.key)
        // A product that was removed from the settings can still be consumed by customers who bought it.
        if knownProduct == nil, !app.settings.products.isEmpty, app.settings.product(productID) == nil {
            throw LedgerRefusal(.productUnknown, found: productID)
        }
        guard let customer = try transaction.customer(customerID, app), let product = knownProduct
        else { throw LedgerRefusal(.balanceInsufficient, expected: "\(quantity)", found: "0") }
        let consumptions = ConsumptionsTable(connection: transaction.connection)
        if let earlier = try consumptions.row(consumptionID, customer: customer.key) {
            return try replay(earlier, customer, product, app, transaction)
        }
        let environment = try balanceEnvironment(customer, product, app, transaction)
        let key = try transaction.environments.keyToWrite(of: environment)
        let entitlement = try balance(of: customer, product, key, app, transaction)
        guard let balance = entitlement?.balance, balance >= quantity else {
            throw LedgerRefusal(
                .balanceInsufficient, expected: "\(quantity)", found: "\(entitlement?.balance ?? 0)")
        }
        var (left, takes): (Int64, [(lot: LotRow, units: Int64)]) = (quantity, [])
        let available = try LotsTable(connection: transaction.connection).available(
            customer.key, product: product, environment: key, limit: Self.lotLimit)
        for lot in available {
            guard left > 0 else { break }
            takes.append((lot, min(left, lot.available)))
            left -= min(left, lot.available)
        }
        guard left == 0 else {
            throw LedgerRefusal(.balanceInsufficient, expected: "\(quantity)", found: "\(quantity - left)")
        }
        let taken = try LotTaking(transaction: transaction).take(takes, by: customer.key)
        var draft = transaction.draft(app)
        draft.customer = customer
        let details = ConsumedDetails(
            customer: customerID, consumptionID: consumptionID, productID: productID, environment: environment.name,
            quantity: quantity, takes: taken.takes)
        let write = try transaction.append(draft, details)
        try once?.keep(write.entry, transaction)
        let shortfall = entitlement?.shortfall ?? 0
        try details.note(customer, product, key, write, balance: balance, shortfall: shortfall)
        return message(
            customer, environment, balance: balance - quantity, shortfall, at: transaction.now, isReplayed: false)
    }

    private func replay(
        _ earlier: ConsumptionRow, _ customer: CustomerRow, _ product: Int64, _ app: RegistryApp,
        _ transaction: LedgerTransaction
    ) throws -> ConsumptionMessage {
        let named = try transaction.environments.environment(earlier.environment)
        guard earlier.productKey == product, earlier.quantity == quantity, environment == nil || environment == named
        else { throw LedgerRefusal(.consumptionConflict, expected: "\(earlier.quantity)", found: "\(quantity)") }
        let entitlement = try balance(of: customer, product, earlier.environment, app, transaction)
        let entry = try JournalTable(connection: transaction.connection).row(key: earlier.entryKey)
        return message(
            customer, named, balance: entitlement?.balance ?? 0, entitlement?.shortfall ?? 0,
            at: entry?.at ?? transaction.now, isReplayed: true)
    }

    private func message(
        _ customer: CustomerRow, _ environment: AppStoreEnvironment, balance: Int64, _ shortfall: Int64,
        at time: Timestamp, isReplayed: Bool
    ) -> ConsumptionMessage {
        var message = ConsumptionMessage(
            consumptionID: consumptionID, customerID: customerID, productID: productID,
            environment: EnvironmentName(environment), quantity: quantity, balance: balance, shortfall: shortfall,
            consumedAt: "\(time)", replayed: isReplayed)
        message.mergedInto = customer.survivor(of: customerID)
        return message
    }

    /// The customer's balance, as every answer states it.
    private func balance(
        of customer: CustomerRow, _ product: Int64, _ environment: Int64, _ app: RegistryApp,
        _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> Entitlement? {
        let entitlement = try transaction.entitlement(
            of: customer.key, product: product, kind: .consumable, productID: productID, environment: environment,
            app: app
        ).whole
        return try transaction.counted(entitlement, of: customer.key, app)
    }

    /// The environment of a consumption whose request names none.
    private func balanceEnvironment(
        _ customer: CustomerRow, _ product: Int64, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> AppStoreEnvironment {
        if let environment { return environment }
        let production = try balance(of: customer, product, 1, app, transaction)
        guard (production?.balance ?? 0) < quantity else { return .production }
        return try transaction.counts(.sandbox, for: customer.key, app) ? .sandbox : .production
    }
}

/// `consumed`.
struct ConsumedDetails: LedgerInput {
    static var kind: JournalKind { .consumed }
    var customer: String
    var consumptionID: String
    var productID: String
    var environment: String
    var quantity: Int64
    var takes: [LotTake]

    func run(_ write: EntryWrite) throws {
        let (customer, transaction) = (try write.existing(self.customer), write.transaction)
        let product = try transaction.products.keyToWrite(productID, appKey: write.app.key, at: transaction.now)
        let environment = try transaction.environments.keyToWrite(of: AppStoreEnvironment(self.environment))
        let former = try transaction.entitlement(
            of: customer.key, product: product, kind: .consumable, productID: productID, environment: environment,
            app: write.app
        ).whole?.entitlement
        try write.recorded?.take(takes, by: customer.key, write)
        try note(customer, product, environment, write, balance: former?.balance, shortfall: former?.shortfall)
    }

    /// Notes the consumption, whose units were taken before.
    ///
    /// - Parameter balance: the balance before it.
    func note(
        _ customer: CustomerRow, _ product: Int64, _ environment: Int64, _ write: EntryWrite, balance: Int64?,
        shortfall: Int64?
    ) throws(LedgerStorageError) {
        try ConsumptionsTable(connection: write.connection).insert(
            ConsumptionRow(
                customerKey: customer.key, consumptionID: consumptionID, entryKey: write.entry.key, productKey: product,
                environment: environment, quantity: quantity))
        try write.transaction.tell(
            write.events.consumed(
                quantity, product: product, environment: environment, of: balance ?? 0, shortfall: shortfall ?? 0),
            to: customer.key)
    }
}
