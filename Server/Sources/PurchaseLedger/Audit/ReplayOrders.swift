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
                environment: environment, token: token, metadata: details.metadata, createdAt: leaf.at,
                expiresAt: Timestamp(millisecondsSince1970: details.expiresAt)))
        try events(entry, app).write(order: row, former: nil)
        guard details.assignsToken else { return }
        try AccountTokensTable(connection: connection).insert(
            token, appKey: app.key, customer: customer.key, entry: entry.key)
        try transaction.customers.setToken(token, of: customer.key)
    }

    func changeOrder(
        _ entry: JournalEntry, _ app: RegistryApp, balance: EntitlementWriter.Balances.Value? = nil,
        _ change: (inout OrderRow) -> Void
    ) throws {
        guard let id = leaf.order, var row = try transaction.orders.row(id: id) else { return }
        let former = row
        change(&row)
        try transaction.orders.update(row, from: former.status)
        try events(entry, app).write(order: row, former: former, balance: balance)
    }

    func events(_ entry: JournalEntry, _ app: RegistryApp) -> EventWriter {
        EventWriter(transaction: transaction, app: app, entry: entry)
    }

    func consume(_ details: ConsumedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        let product = try transaction.products.keyToWrite(details.productID, appKey: app.key, at: leaf.at)
        let environment = try transaction.environments.keyToWrite(of: AppStoreEnvironment(details.environment))
        let entitlement = try transaction.entitlement(
            of: customer.key, product: product, kind: .consumable, productID: details.productID,
            environment: environment, app: app)?.entitlement
        try take(details.takes)
        try ConsumptionsTable(connection: connection).insert(
            ConsumptionRow(
                customerKey: customer.key, consumptionID: details.consumptionID, entryKey: entry.key,
                productKey: product, environment: environment, quantity: details.quantity))
        let events = events(entry, app)
        try events.write(
            events.consumed(
                details.quantity, product: product, environment: environment, of: entitlement?.balance ?? 0,
                shortfall: entitlement?.shortfall ?? 0), customer: customer.key)
    }

    /// Takes the recorded units from the recorded lots.
    ///
    /// - Returns: the balance afterwards.
    @discardableResult
    func take(_ takes: [LotTake]) throws -> EntitlementWriter.Balances.Value? {
        guard !isOfEntriesAlone else { return nil }
        var lots: [(lot: LotRow, units: Int64)] = []
        for take in takes where try !isErased(take) {
            guard let ground = try ground(of: take), let lot = try LotsTable(connection: connection).row(ground) else {
                throw LedgerStorageError(.corrupt, "entry \(leaf.id) takes from a lot that does not exist")
            }
            lots.append((lot, take.units))
        }
        guard let owner = lots.first?.lot.customerKey else { return nil }
        return try LotTaking(transaction: transaction).take(lots, by: owner).balance
    }

    /// Whether a later erasure removed the lot, so that its units are not counted. A lot that others have a part in still exists.
    private func isErased(_ take: LotTake) throws -> Bool {
        guard let erasures = transaction.erasures, let id = take.originalID else { return false }
        let key = OriginalKey(
            environment: AppStoreEnvironment(take.environment), transactionID: ExactText(id), second: take.second ?? 0)
        guard erasures.originals.contains(key), let ground = try ground(of: take) else {
            return erasures.originals.contains(key)
        }
        return try LotsTable(connection: connection).row(ground) == nil
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
