import PurchaseVerification

/// Moves the rows of a merged customer that are not computed by a rule.
struct CustomerMerge {
    let transaction: LedgerTransaction
    let from: Int64
    let to: Int64

    private var connection: any LedgerConnection { transaction.connection }

    /// Moves manual grants, with the access that they give.
    func moveHandGrants() throws(LedgerStorageError) {
        let grants = HandGrantsTable(connection: connection)
        for row in try grants.rows(of: from) {
            try grants.move(row.key, to: to)
            guard
                var entitlement = try transaction.entitlements.row(
                    from, product: row.productKey, environment: row.environment, ground: -row.key)
            else { continue }
            try transaction.entitlements.delete(
                from, product: row.productKey, environment: row.environment, ground: -row.key)
            entitlement.customerKey = to
            try transaction.entitlements.write(entitlement)
        }
    }

    /// Moves lots, and the units taken from them. If one of the two customers took from a lot that the other owns, both now
    /// belong to the merged customer.
    ///
    /// - Parameter originals: the originals that the customer owned.
    func moveBalances(originals: [Int64]) throws(LedgerStorageError) {
        let (lots, takes) = (LotsTable(connection: connection), TakesTable(connection: connection))
        let granted = try HandGrantsTable(connection: connection).rows(of: to).map { -$0.key }
        var changed: [LotRow] = []
        for ground in Set(originals + granted + (try takes.grounds(of: from))).sorted() {
            let units = try takes.units(of: ground)
            let (fromUnits, toUnits) = (units[from] ?? 0, units[to] ?? 0)
            guard let former = try lots.row(ground) else {
                // An import noted units of a purchase whose product is not registered, or the lot's owner was erased. The used
                // units count if the original gets a lot.
                guard fromUnits > 0 else { continue }
                try takes.delete(ground, of: from)
                try takes.add(fromUnits, from: ground, by: to)
                continue
            }
            var lot = former
            if lot.customerKey == from { lot.customerKey = to }
            if lot.customerKey == to { lot.taken = fromUnits + toUnits }
            guard lot != former || fromUnits > 0 else { continue }
            try add(former, from, of: fromUnits, sign: -1)
            try add(former, to, of: toUnits, sign: -1)
            try add(lot, to, of: fromUnits + toUnits, sign: 1)
            try lots.write(lot, isNew: false)
            if fromUnits > 0 {
                try takes.delete(ground, of: from)
                try takes.add(fromUnits, from: ground, by: to)
            }
            changed.append(lot)
        }
        for lot in changed {
            try transaction.entitlements.explain(
                EntitlementRow(
                    balance: (0, 0), of: to, product: lot.productKey, environment: lot.environment))
        }
        try ConsumptionsTable(connection: connection).move(from: from, to: to)
    }

    /// Moves orders, claimed seats, and the tester status.
    func moveRows() throws(LedgerStorageError) {
        try transaction.orders.move(from: from, to: to)
        try SeatsTable(connection: connection).move(from: from, to: to)
        transaction.entitlementWrites?.forgetEverything()
        try TestersTable(connection: connection).move(from: from, to: to)
    }

    private func add(
        _ lot: LotRow, _ customer: Int64, of units: Int64, sign: Int64
    ) throws(LedgerStorageError) {
        let part = lot.part(of: customer, taken: units)
        guard part != ConsumableBalance() else { return }
        _ = try transaction.entitlements.add(
            sign * part.remaining, shortfall: sign * part.shortfall,
            to: EntitlementRow(
                balance: (0, 0), of: customer, product: lot.productKey, environment: lot.environment))
    }
}
