import PurchaseVerification

import struct Foundation.UUID

/// Orders, and the use of consumables.
extension ReplayStep {
    func createOrder(_ details: OrderCreatedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        guard let id = leaf.order, let token = UUID(uuidString: details.token) else { return }
        let product = try transaction.products.keyToWrite(details.productID, appKey: app.key, at: leaf.at)
        var environment: Int64?
        if let name = details.environment {
            environment = try transaction.environments.keyToWrite(of: AppStoreEnvironment(name))
        }
        let row = try transaction.orders.insert(
            OrderRow(
                id: id, appKey: app.key, customerKey: customer.key, productKey: product, quantity: details.quantity,
                environment: environment, acceptsRenewal: details.acceptsRenewal ?? false, token: token,
                metadata: details.metadata, createdAt: leaf.at,
                expiresAt: Timestamp(millisecondsSince1970: details.expiresAt)))
        try transaction.tell(events(entry, app).event(of: row, from: nil), to: row.customerKey)
        guard details.assignsToken else { return }
        try AccountTokensTable(connection: connection).insert(
            token, appKey: app.key, customer: customer.key, entry: entry.key)
        try transaction.customers.setToken(token, of: customer.key)
    }

    func fulfilOrder(_ details: OrderFulfilledDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let order = try leaf.order.flatMap { try transaction.orders.row(id: $0) }
        let customer = try order.map {
            try transaction.customers.surviving(try transaction.customers.row($0.customerKey)).key
        }
        let balance = try customer.flatMap { try take(details.takes, by: $0) }
        try changeOrder(entry, app, balance: balance) {
            $0.deliver(details.units ?? $0.quantity, remaining: details.remaining ?? 0, at: leaf.at)
        }
    }

    func changeOrder(
        _ entry: JournalEntry, _ app: RegistryApp, balance: Balances.Value? = nil,
        reason: String? = nil, _ change: (inout OrderRow) -> Void
    ) throws {
        guard let id = leaf.order, var row = try transaction.orders.row(id: id) else { return }
        let former = row
        change(&row)
        try transaction.orders.update(row, from: former.status)
        try transaction.tell(
            events(entry, app).event(of: row, from: former, balance: balance, reason: reason), to: row.customerKey)
    }

    func events(_ entry: JournalEntry, _ app: RegistryApp) -> LedgerEvents {
        LedgerEvents(transaction, app: app, entry: entry)
    }

    func consume(_ details: ConsumedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        let product = try transaction.products.keyToWrite(details.productID, appKey: app.key, at: leaf.at)
        let environment = try transaction.environments.keyToWrite(of: AppStoreEnvironment(details.environment))
        let entitlement = try transaction.entitlement(
            of: customer.key, product: product, kind: .consumable, productID: details.productID,
            environment: environment, app: app
        ).whole?.entitlement
        try take(details.takes, by: customer.key)
        try ConsumptionsTable(connection: connection).insert(
            ConsumptionRow(
                customerKey: customer.key, consumptionID: details.consumptionID, entryKey: entry.key,
                productKey: product, environment: environment, quantity: details.quantity))
        let events = events(entry, app)
        try transaction.tell(
            events.consumed(
                details.quantity, product: product, environment: environment, of: entitlement?.balance ?? 0,
                shortfall: entitlement?.shortfall ?? 0), to: customer.key)
    }

    /// Takes the recorded units from the recorded lots.
    ///
    /// - Parameter customer: the customer who used them.
    /// - Returns: the balance afterwards.
    @discardableResult
    func take(_ takes: [LotTake], by customer: Int64) throws -> Balances.Value? {
        guard !isOfEntriesAlone else { return nil }
        var lots: [(lot: LotRow, units: Int64)] = []
        for take in takes where try !isOfAnother(take, customer) {
            guard let ground = try ground(of: take), let lot = try LotsTable(connection: connection).row(ground) else {
                throw LedgerStorageError(.corrupt, "entry \(leaf.id) takes from a lot that does not exist")
            }
            lots.append((lot, take.units))
        }
        guard !lots.isEmpty else { return nil }
        return try LotTaking(transaction: transaction).take(lots, by: customer).balance
    }

    /// Whether a later erasure removed the purchase by which the customer had the lot. Then the used units are
    /// recorded, and are a shortfall if the lot belongs to somebody else.
    func isOfAnother(_ take: LotTake, _ customer: Int64) throws -> Bool {
        guard let erasures = transaction.erasures, let id = take.originalID else { return false }
        let key = OriginalKey(
            environment: AppStoreEnvironment(take.environment), transactionID: ExactText(id), second: take.second ?? 0)
        guard erasures.originals.contains(key) else { return false }
        // Without the original, only the erased customer's evidence proved it so far.
        guard let ground = try ground(of: take) ?? addErased(key) else { return true }
        let lot = try LotsTable(connection: connection).row(ground)
        if let lot, lot.customerKey == customer { return false }
        try TakesTable(connection: connection).add(take.units, from: ground, by: customer)
        guard let lot else { return true }
        _ = try transaction.entitlements.add(
            0, shortfall: take.units,
            to: EntitlementRow(
                balance: (0, 0), of: customer, product: lot.productKey, environment: lot.environment))
        return true
    }

    /// Adds the erased transactions of an original.
    private func addErased(_ key: OriginalKey) throws -> Int64? {
        guard let app = transaction.registry.app(leaf.app) else { return nil }
        let changes = LedgerChanges(transaction, app: app)
        let erased = (transaction.erasures?.transactions ?? [:]).values.filter { $0.original == key }
        for facts in erased.sorted(by: { $0.key.transactionID.string < $1.key.transactionID.string }) {
            try changes.claim(erased: facts)
        }
        try changes.settle()
        return changes.histories.first { $0.key == key && !$0.isNew }?.original.key
    }

    private func ground(of take: LotTake) throws -> Int64? {
        if let id = take.grantID.flatMap({ UUID(uuidString: $0) }) {
            return try HandGrantsTable(connection: connection).row(id: id).map { -$0.key }
        }
        let environment = AppStoreEnvironment(take.environment)
        let key = OriginalKey(
            environment: environment, transactionID: ExactText(take.originalID ?? ""), second: take.second ?? 0)
        return try OriginalsTable(connection: connection)
            .row(key, environment: try transaction.environments.keyToWrite(of: environment))?.key
    }
}
