import PurchaseVerification

extension LedgerTransaction {
    /// The rows of a customer's access as they are after the merge in progress.
    ///
    /// - Parameter rows: those of the customer, and those that still move to them, ordered by ground within a product.
    func joined(_ rows: [EntitlementRow], of customer: Int64) throws(LedgerStorageError) -> [EntitlementRow] {
        guard let from = rows.first(where: { $0.customerKey != customer })?.customerKey else { return rows }
        return try JoinedEntitlements(transaction: self, from: from, to: customer).join(rows)
    }

    /// Adds to a balance and to its shortfall.
    ///
    /// - Returns: both new values, as they are after the merge in progress.
    func add(
        _ balance: Int64, shortfall: Int64, to row: EntitlementRow
    ) throws(LedgerStorageError) -> Balances.Value {
        let sum = try entitlements.add(balance, shortfall: shortfall, to: row)
        guard sum.isMoving else { return (sum.balance, sum.shortfall) }
        let rows = try entitlements.rows(of: row.customerKey, product: row.productKey, environment: row.environment)
        let joined = try joined(rows, of: row.customerKey).first { $0.ground == row.ground }
        return (joined?.balance ?? 0, joined?.shortfall ?? 0)
    }
}

/// The entitlements of a customer while rows of a merged one still move to them. Each is what it will be after the last
/// row.
///
/// A ground of only one of the two keeps its content, because nobody but the owner changes. A ground of both is
/// computed again.
private struct JoinedEntitlements {
    let transaction: LedgerTransaction
    /// The merged customer.
    let from: Int64
    /// The customer who remains.
    let to: Int64

    private var connection: any LedgerConnection { transaction.connection }

    func join(_ rows: [EntitlementRow]) throws(LedgerStorageError) -> [EntitlementRow] {
        var joined: [EntitlementRow] = []
        var rest = rows[...]
        while var row = rest.first {
            let ground = rest.prefix {
                ($0.productKey, $0.environment, $0.ground) == (row.productKey, row.environment, row.ground)
            }
            rest = rest.dropFirst(ground.count)
            row.customerKey = to
            guard ground.count > 1 else {
                joined.append(row)
                continue
            }
            let computed =
                switch row.ground {
                case EntitlementRow.wholeGround: try balance(ground)
                case EntitlementRow.passGround: try passes(row)
                default: try original(row)
                }
            if let computed { joined.append(computed) }
        }
        return joined
    }

    // MARK: Originals and passes

    private func original(_ row: EntitlementRow) throws(LedgerStorageError) -> EntitlementRow? {
        let original = try OriginalsTable(connection: connection).row(row.ground)
        let app = RegistryApp(key: original.appKey, settings: RegisteredApp(id: "", bundleIDs: []))
        let identities = CustomerIdentities(transaction, app: app)
        let history = try HistoryReader(transaction: transaction).history(original)
        try identities.readMerges(of: history)
        try identities.readMerges(of: from)
        let tokens = try identities.assignments(of: history)
        let customer = CustomerNumber(rawValue: to)
        var grounds: [AccessGround] = []
        var isNoted = false
        for holder in history.holders {
            let ownership = try history.ownership(of: holder, tokens: tokens, identities)
            let access = OriginalAccess(
                history.purchases(of: holder, ownership), renewal: history.renewal,
                revocations: history.handRevocations(of: holder), status: history.status(of: holder))
            grounds += access.grounds.filter { ground in
                ground.customer == customer
                    && history.records.contains {
                        ExactText($0.productID) == ground.productID && $0.row.productKey == row.productKey
                    }
            }
            if holder == .buyer, let lot = access.lots.first { isNoted = lot.others.contains(customer) }
        }
        if let joined = grounds.joined {
            return EntitlementRow(
                joined.timeline, joined.kind, of: to, product: row.productKey, environment: row.environment,
                ground: row.ground)
        }
        guard isNoted else { return nil }
        return EntitlementRow(
            note: .ownedByAnother, of: to, product: row.productKey, environment: row.environment, ground: row.ground)
    }

    private func passes(_ row: EntitlementRow) throws(LedgerStorageError) -> EntitlementRow? {
        let grounds = try PassReader(transaction: transaction)
            .grounds(of: [to, from], product: row.productKey, environment: row.environment)
        return grounds.joined.map {
            EntitlementRow(
                $0.timeline, $0.kind, of: to, product: row.productKey, environment: row.environment,
                ground: EntitlementRow.passGround)
        }
    }

    // MARK: Balances

    private func balance(_ rows: ArraySlice<EntitlementRow>) throws(LedgerStorageError) -> EntitlementRow? {
        guard let first = rows.first else { return nil }
        var sum = ConsumableBalance()
        for row in rows {
            sum.remaining += row.balance
            sum.shortfall += row.shortfall
        }
        // Units that one took from a lot of the other are a shortfall until the lot moves.
        if sum.shortfall > 0 {
            let lots = LotsTable(connection: connection)
            for (owner, taker) in [(from, to), (to, from)] {
                for (lot, units) in try lots.taken(
                    from: owner, by: taker, product: first.productKey, environment: first.environment)
                {
                    let before = lot.part(of: owner, taken: lot.taken) + lot.part(of: taker, taken: units)
                    let after = lot.part(of: owner, taken: lot.taken + units)
                    sum.remaining += after.remaining - before.remaining
                    sum.shortfall += after.shortfall - before.shortfall
                }
            }
        }
        var row = EntitlementRow(
            balance: (sum.remaining, sum.shortfall), of: to, product: first.productKey, environment: first.environment)
        guard sum.remaining == 0 else { return row }
        let newest = try LotsTable(connection: connection)
            .newest(of: [to, from], product: first.productKey, environment: first.environment)
        guard newest != nil || sum.shortfall > 0 else { return nil }
        row.reason = newest.map { $0.reason ?? .consumed } ?? .ownedByAnother
        return row
    }
}
