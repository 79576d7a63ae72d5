import PurchaseVerification

/// Reads what the ledger knows of a purchase about whose use Apple asks.
struct ConsumptionReading {
    let reader: LedgerTransaction
    let app: RegistryApp

    private var connection: any LedgerConnection { reader.connection }

    /// The situation of a transaction, and the customer who owns it, after all merges.
    func situation(
        of row: TransactionRow
    ) throws(LedgerStorageError) -> (situation: ConsumptionSituation, owner: CustomerRow?) {
        let environment = try reader.environments.environment(row.environment)
        let facts = try row.observed(in: environment)
        let owner = try row.ownerKey.map { key throws(LedgerStorageError) in
            try reader.customers.surviving(try reader.customers.row(key))
        }
        let used = try owner.map { customer throws(LedgerStorageError) in try self.used(of: row, by: customer) } ?? 0
        var withdrawals = PurchaseWithdrawals(reader)
        let withdrawal = try withdrawals.withdrawal(of: row)
        // After a refund of some units, Apple can be asked for the others, and it is they that are used or not.
        let isWithdrawn = ClaimedPurchase(facts, kind: row.kind, withdrawal: withdrawal).wholeWithdrawal != nil
        let quantity = isWithdrawn ? facts.quantity : max(1, facts.quantity - (withdrawal?.units ?? 0))
        var situation = ConsumptionSituation(
            productID: facts.productID?.string, kind: row.kind, holder: holder(of: facts), isOwned: owner != nil,
            consent: .unknown, quantity: quantity, used: min(used, quantity), isDelivered: false,
            isWithdrawn: isWithdrawn)
        guard let owner else { return (situation, nil) }
        if let row = try ConsumptionConsentsTable(connection: connection).row(of: owner.key) {
            situation.consent = row.isGiven ? .given : .refused
        }
        let counts = try reader.counts(environment, for: owner.key, app)
        var order: OrderRow?
        for copy in try reader.copies(of: row) where order == nil { order = try reader.orders.row(paidBy: copy) }
        // What was used was delivered, whatever became of the order.
        situation.isDelivered = used > 0 || counts && row.kind != nil && (order.map { $0.fulfilledUnits > 0 } ?? true)
        return (situation, owner)
    }

    private func holder(of facts: ObservedTransaction) -> ConsumptionSituation.Holder {
        switch facts.ownership.holder {
        case .buyer: .buyer
        case .family: .family
        case .assigned, .assignedTransaction: .seat
        }
    }

    /// The units that the owner took from the lot of a consumable, by consuming them or by fulfilled orders. What
    /// others took before it was transferred to them is not theirs.
    private func used(of row: TransactionRow, by owner: CustomerRow) throws(LedgerStorageError) -> Int64 {
        guard row.kind == .consumable else { return 0 }
        return try TakesTable(connection: connection).units(of: row.originalKey)[owner.key] ?? 0
    }
}
