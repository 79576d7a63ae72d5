public import PurchaseVerification

extension LedgerTransaction {
    /// Adds a consumable to its balance.
    func addToBalance(_ purchase: RecordedPurchase) throws(LedgerStorageError) {
        let key = EntitlementKey(purchase)
        let before = try reader.entitlement(key)
        let (balance, overflow) = (before?.balance ?? 0).addingReportingOverflow(purchase.quantity)
        guard !overflow else { throw LedgerStorageError(.constraint, "the balance is beyond what a number holds") }
        try keep(
            Entitlement(
                key: key, productKind: .consumable, recordedState: .active, balance: balance,
                since: before?.since ?? purchase.purchasedAt, until: nil, transactionID: purchase.transactionID,
                reason: purchase.kind.rawValue, updatedAt: now))
    }

    /// Takes a consumable that was taken back from its balance, as far as it is there.
    ///
    /// - Returns: how many were used up already.
    func takeFromBalance(_ purchase: RecordedPurchase) throws(LedgerStorageError) -> Int64 {
        guard var entitlement = try reader.entitlement(EntitlementKey(purchase)) else { return purchase.quantity }
        let taken = min(entitlement.balance, purchase.quantity)
        entitlement.balance -= taken
        entitlement.reason = "withdrawn"
        entitlement.updatedAt = now
        try keep(entitlement)
        return purchase.quantity - taken
    }

    /// Works out, from the purchases that count, what a customer may use of a product that is not used up.
    func renewEntitlement(
        _ key: EntitlementKey, reason: String, isGranting: Bool = false
    ) throws(LedgerStorageError) {
        let before = try reader.entitlement(key)
        // A balance stays what it is, even if the operator called the product something else before.
        guard isGranting || before?.productKind != .consumable else { return }
        guard let ground = try reader.ground(of: key) else {
            guard var entitlement = before else { return }
            entitlement.recordedState = reason == "moved" ? .moved : .withdrawn
            entitlement.until = [entitlement.until, now].compactMap(\.self).min()
            entitlement.reason = reason
            entitlement.updatedAt = now
            try keep(entitlement)
            return
        }
        try keep(
            Entitlement(
                key: key, productKind: ground.source.productKind, recordedState: .active,
                balance: before?.balance ?? 0,
                since: ground.since, until: ground.until, transactionID: ground.source.transactionID, reason: reason,
                updatedAt: now))
    }

    private func keep(_ entitlement: Entitlement) throws(LedgerStorageError) {
        try connection.execute(
            """
            INSERT INTO entitlements (\(Entitlement.columns))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            ON CONFLICT (app, customer_id, product_id, environment) DO UPDATE SET
                product_type = excluded.product_type, state = excluded.state, balance = excluded.balance,
                since = excluded.since, until = excluded.until, transaction_id = excluded.transaction_id,
                reason = excluded.reason, updated_at = excluded.updated_at
            """, entitlement.values)
    }
}

extension LedgerTransaction {
    /// Takes from the balance of a consumable. The same consumption again changes nothing and has the same answer.
    ///
    /// - Parameters:
    ///   - consumptionID: the operator's name for it.
    ///   - environment: of which balance; `nil` takes the only one there is, or that of production.
    /// - Throws: `LedgerRefusal` if the balance is too small; `LedgerStorageError`.
    public func consume(
        _ quantity: Int64, of productID: String, customerID: String, app: String, consumptionID: String,
        environment: AppStoreEnvironment?
    ) throws -> Consumption {
        if let made = try consumption(consumptionID, customerID: customerID, app: app) {
            guard made.productID.isSame(as: productID), made.quantity == quantity,
                environment == nil || environment == made.environment
            else { throw LedgerRefusal(.consumptionConflict, found: "\(made.quantity) of \(made.productID)") }
            return made
        }
        let balances = try reader.entitlements(of: customerID, app: app).filter {
            $0.key.productID.isSame(as: productID) && $0.productKind == .consumable
        }
        let chosen: Entitlement? =
            if let environment {
                balances.first { $0.key.environment == environment }
            } else {
                balances.count == 1 ? balances.first : balances.first { $0.key.environment == .production }
            }
        guard var entitlement = chosen, entitlement.balance >= quantity, quantity > 0 else {
            throw LedgerRefusal(
                .balanceInsufficient, expected: "\(quantity)", found: "\(chosen?.balance ?? 0)")
        }
        entitlement.balance -= quantity
        entitlement.reason = "consumed"
        entitlement.updatedAt = now
        try keep(entitlement)
        let consumption = Consumption(
            id: consumptionID, customerID: customerID, productID: productID, environment: entitlement.key.environment,
            quantity: quantity, balance: entitlement.balance, consumedAt: now, isReplayed: false)
        try connection.execute(
            """
            INSERT INTO consumptions
                (app, customer_id, consumption_id, product_id, environment, quantity, balance, consumed_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """,
            [
                .text(app), .text(customerID), .text(consumptionID), .text(productID),
                .text(consumption.environment.name), .integer(quantity), .integer(consumption.balance), .time(now),
            ])
        try record(
            LedgerEvent(
                .balanceConsumed, at: now, app: app, customerID: customerID, environment: consumption.environment.name,
                productID: productID, quantity: quantity, detail: consumptionID))
        return consumption
    }

    private func consumption(
        _ id: String, customerID: String, app: String
    ) throws(LedgerStorageError) -> Consumption? {
        let rows = try connection.rows(
            """
            SELECT product_id, environment, quantity, balance, consumed_at FROM consumptions
            WHERE app = ?1 AND customer_id = ?2 AND consumption_id = ?3
            """, [.text(app), .text(customerID), .text(id)])
        guard let row = rows.first else { return nil }
        var reader = RowReader(row)
        return Consumption(
            id: id, customerID: customerID, productID: try reader.text(),
            environment: AppStoreEnvironment(try reader.text()), quantity: try reader.integer(),
            balance: try reader.integer(), consumedAt: try reader.time(), isReplayed: true)
    }
}

/// Something taken from a balance.
public struct Consumption: Sendable, Equatable {
    public var id: String
    public var customerID: String
    public var productID: String
    public var environment: AppStoreEnvironment
    public var quantity: Int64
    /// What was left then.
    public var balance: Int64
    public var consumedAt: Timestamp
    /// Whether it was taken by an earlier request of the same name.
    public var isReplayed: Bool
}

extension LedgerReader {
    /// What a customer may use, and why: one query, by the primary key.
    public func entitlements(of customerID: String, app: String) throws(LedgerStorageError) -> [Entitlement] {
        var entitlements: [Entitlement] = []
        for row in try connection.rows(
            """
            SELECT \(Entitlement.columns) FROM entitlements WHERE app = ?1 AND customer_id = ?2
            ORDER BY product_id, environment
            """, [.text(app), .text(customerID)])
        {
            entitlements.append(try Entitlement(row))
        }
        return entitlements
    }

    /// One entitlement.
    public func entitlement(_ key: EntitlementKey) throws(LedgerStorageError) -> Entitlement? {
        let rows = try connection.rows(
            """
            SELECT \(Entitlement.columns) FROM entitlements
            WHERE app = ?1 AND customer_id = ?2 AND product_id = ?3 AND environment = ?4
            """, key.values)
        guard let row = rows.first else { return nil }
        return try Entitlement(row)
    }
}
