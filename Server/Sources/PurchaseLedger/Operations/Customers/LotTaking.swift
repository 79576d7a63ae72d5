import PurchaseVerification

/// Takes units from lots.
struct LotTaking {
    let transaction: LedgerTransaction

    /// The units taken, and the balance afterwards.
    struct Taken {
        var takes: [LotTake] = []
        var balance: EntitlementWriter.Balances.Value?
    }

    /// Takes units from lots of one balance, and from the balance.
    func take(_ takes: [(lot: LotRow, units: Int64)], by customer: Int64) throws(LedgerStorageError) -> Taken {
        let connection = transaction.connection
        var taken = Taken()
        for (lot, units) in takes {
            var row = lot
            row.taken += units
            try LotsTable(connection: connection).write(row, isNew: false)
            try TakesTable(connection: connection).add(units, from: lot.ground, by: customer)
            taken.takes.append(try name(lot, units))
        }
        if let lot = takes.first?.lot {
            let row = EntitlementRow(
                balance: (0, 0), of: customer, product: lot.productKey, environment: lot.environment)
            let units = takes.reduce(0) { $0 + $1.units }
            taken.balance = try transaction.entitlements.add(-units, shortfall: 0, to: row)
        }
        return taken
    }

    /// The lot in the form that the journal stores.
    private func name(_ lot: LotRow, _ units: Int64) throws(LedgerStorageError) -> LotTake {
        let environment = try transaction.environments.environment(lot.environment).name
        guard lot.ground > 0 else {
            guard let grant = try HandGrantsTable(connection: transaction.connection).row(key: -lot.ground) else {
                throw LedgerStorageError(.corrupt, "there is no grant \(-lot.ground)")
            }
            return LotTake(environment: environment, originalID: nil, second: nil, grantID: grant.id.text, units: units)
        }
        let original = try OriginalsTable(connection: transaction.connection).row(lot.ground)
        return LotTake(
            environment: environment, originalID: original.originalID,
            second: original.xcodeSecond == 0 ? nil : original.xcodeSecond, grantID: nil, units: units)
    }
}
