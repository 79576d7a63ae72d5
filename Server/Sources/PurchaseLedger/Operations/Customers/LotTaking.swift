import PurchaseVerification

/// Takes units from lots.
struct LotTaking {
    let transaction: LedgerTransaction

    /// The units taken, and the balance afterwards.
    struct Taken {
        var takes: [LotTake] = []
        var balance: Balances.Value?
        /// The last lot afterwards.
        var lot: LotRow?
    }

    /// Takes units from lots of one balance, and from the balance.
    ///
    /// - Parameter original: the original of the lots, if it was read before.
    func take(
        _ takes: [(lot: LotRow, units: Int64)], of original: OriginalRow? = nil, by customer: Int64
    ) throws(LedgerStorageError) -> Taken {
        let connection = transaction.connection
        var taken = Taken()
        var (balance, shortfall): (Int64, Int64) = (0, 0)
        for (lot, units) in takes {
            var row = lot
            row.taken += units
            balance += row.available - lot.available
            shortfall += row.shortfall - lot.shortfall
            try LotsTable(connection: connection).write(row, isNew: false)
            try TakesTable(connection: connection).add(units, from: lot.ground, by: customer)
            taken.takes.append(try name(lot, of: original, units))
            taken.lot = row
        }
        if let lot = takes.first?.lot {
            let row = EntitlementRow(
                balance: (0, 0), of: customer, product: lot.productKey, environment: lot.environment)
            taken.balance = try transaction.entitlements.add(balance, shortfall: shortfall, to: row)
        }
        return taken
    }

    /// Takes all units of an original from its lot, refunded ones too: they were delivered before the ledger knew the
    /// purchase. Without a lot, because the settings do not agree with the product, they are noted for the time when it
    /// has one.
    ///
    /// - Returns: the units taken, and the balance afterwards, if there is one.
    func takeDelivered(
        _ units: Int64, of original: OriginalRow, _ lot: LotRow?, by customer: Int64
    ) throws(LedgerStorageError) -> Taken {
        if let lot, lot.customerKey == customer { return try take([(lot, units)], of: original, by: customer) }
        try TakesTable(connection: transaction.connection).add(units, from: original.key, by: customer)
        let environment = try transaction.environments.environment(original.environment).name
        return Taken(takes: [name(original, in: environment, units)])
    }

    private func name(_ original: OriginalRow, in environment: String, _ units: Int64) -> LotTake {
        LotTake(
            environment: environment, originalID: original.originalID,
            second: original.xcodeSecond == 0 ? nil : original.xcodeSecond, grantID: nil, units: units)
    }

    /// The lot in the form that the journal stores.
    private func name(
        _ lot: LotRow, of original: OriginalRow?, _ units: Int64
    ) throws(LedgerStorageError) -> LotTake {
        let environment = try transaction.environments.environment(lot.environment).name
        guard lot.ground > 0 else {
            guard let grant = try HandGrantsTable(connection: transaction.connection).row(key: -lot.ground) else {
                throw LedgerStorageError(.corrupt, "there is no grant \(-lot.ground)")
            }
            return LotTake(environment: environment, originalID: nil, second: nil, grantID: grant.id.text, units: units)
        }
        if let original { return name(original, in: environment, units) }
        return name(try OriginalsTable(connection: transaction.connection).row(lot.ground), in: environment, units)
    }
}
