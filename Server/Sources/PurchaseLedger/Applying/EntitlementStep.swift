import PurchaseVerification

/// Reads what the entitlements of an original depend on besides its history, and decides which rows change.
struct EntitlementStep {
    let transaction: LedgerTransaction
    /// The histories in which this write has changed anything; `nil` if they are not all known.
    let changed: [PurchaseHistory]?
    /// Whether a customer was erased. Nothing is written for them.
    let isErased: (Int64) throws(LedgerStorageError) -> Bool

    /// What changes.
    ///
    /// - Parameters:
    ///   - changes: what changed in the history.
    ///   - ownership: the owners, by holder.
    ///   - claimants: all customers who ever claimed it or had it transferred to them.
    func delta(
        of history: PurchaseHistory, _ changes: ChangedHistory, _ ownership: [PurchaseHolder: Ownership],
        claimants: Set<Int64>
    ) throws(LedgerStorageError) -> Delta {
        let (ground, environment) = (history.original.key, history.original.environment)
        let change = EntitlementChange(
            changes, history.access(changes.purchases), claimants: Set(claimants.map(CustomerNumber.init)),
            hadLot: history.formerLot != nil)
        var erased: Set<CustomerNumber> = []
        for customer in change.unsure.sorted() where try isErased(customer.rawValue) { erased.insert(customer) }
        var delta = Delta()
        delta.access = change.rows(besides: erased).map { subject, row in
            Delta.ChangedAccess(subject, row, environment: environment, ground: ground)
        }
        if try hasClaimedSeats(history) {
            let rows = history.seatAccessRows(ownership[.buyer] ?? Ownership(owners: [:]))
            delta.seatAccess.append(Delta.ChangedSeatAccess(original: ground, rows: rows))
        }
        let lot = change.lot(besides: erased)
        if lot != nil || history.formerLot != nil {
            // A lot without a former owner has no used units. All of its transactions can have moved to another
            // original.
            let isFirst = history.formerLot == nil && history.records.allSatisfy(\.isNew)
            delta.lots.append(
                try transaction.change(
                    of: ground, environment: environment, from: history.formerLot, to: change.stored(lot),
                    isFirst: isFirst))
        }
        for chain in change.passes(besides: erased) {
            let grounds = try PassReader(transaction: transaction, changed: changed)
                .grounds(of: chain.customer.rawValue, product: chain.product, environment: environment)
            delta.access.append(
                Delta.ChangedAccess(
                    chain, EntitlementChange.Row(grounds), environment: environment,
                    ground: EntitlementRow.passGround))
        }
        return delta
    }

    /// Whether customers claimed seats of it. What it gives them is one row for each product, however many they are.
    private func hasClaimedSeats(_ history: PurchaseHistory) throws(LedgerStorageError) -> Bool {
        let records = history.everyRecord
        let isInvitedByBackend = records.indices.contains {
            records[$0].facts.isInvitedByBackend || records[$0].formerFacts?.isInvitedByBackend == true
        }
        guard isInvitedByBackend else { return false }
        return try SeatsTable(connection: transaction.connection).isClaimed(original: history.original.key)
    }
}

extension LedgerTransaction {
    /// What the change of a lot does, after the balances that it concerns were locked.
    ///
    /// - Parameter isFirst: whether nobody can have used it yet.
    func change(
        of ground: Int64, environment: Int64, from former: LotRow?, to lot: LotChange.Lot?, isFirst: Bool
    ) throws(LedgerStorageError) -> Delta.ChangedLot {
        let takes = isFirst ? [:] : try TakesTable(connection: connection).units(of: ground)
        let change = LotChange(
            from: former?.lot, to: lot,
            takes: Dictionary(uniqueKeysWithValues: takes.map { (CustomerNumber(rawValue: $0.key), $0.value) }))
        if !takes.isEmpty, !change.steps.isEmpty {
            try self.lock(customers: {
                Set(takes.keys).union([lot?.owner.rawValue, former?.customerKey].compactMap(\.self))
            })
        }
        return Delta.ChangedLot(ground: ground, environment: environment, change: change)
    }
}

extension PurchaseHistory {
    /// The access that it gives, by holder.
    func access(_ purchases: [OwnedPurchase]) -> [PurchaseHolder: OriginalAccess] {
        var access: [PurchaseHolder: OriginalAccess] = [:]
        for (holder, purchases) in Dictionary(grouping: purchases, by: \.ownership.holder) {
            access[holder] = OriginalAccess(
                purchases, renewal: renewal, revocations: handRevocations(of: holder), status: status(of: holder))
        }
        return access
    }
}

extension PurchaseHistory {
    func purchases(of holder: PurchaseHolder, _ ownership: Ownership) -> [OwnedPurchase] {
        records.purchases(of: holder, ownership)
    }
}

extension [TransactionRecord] {
    /// The purchases of a holder.
    func purchases(of holder: PurchaseHolder, _ ownership: Ownership) -> [OwnedPurchase] {
        map(\.current).purchases(of: holder, ownership)
    }
}

extension Ownership {
    /// The owners stored in the rows of a history.
    static func stored(_ history: PurchaseHistory) -> Ownership { stored(history.records) }

    /// The owners stored in the rows of transactions.
    static func stored(_ records: [TransactionRecord]) -> Ownership {
        var owners: [TransactionKey: TransactionOwner] = [:]
        for record in records {
            var owner = TransactionOwner()
            owner.customer = record.row.ownerKey.map(CustomerNumber.init)
            owners[record.facts.key] = owner
        }
        return Ownership(owners: owners)
    }
}

extension PurchaseHistory {
    /// What the subscription gives those who claim its seats, by product.
    func seatAccess(_ ownership: Ownership) -> [ExactText: SeatAccess] {
        guard records.contains(where: \.facts.isInvitedByBackend) else { return [:] }
        return SeatGrounds.access(
            of: purchases(of: .buyer, ownership), renewal: renewal, revocations: handRevocations(of: .buyer),
            status: status(of: .buyer))
    }

    /// The rows of what the subscription gives those who claim its seats.
    func seatAccessRows(_ ownership: Ownership) -> [SeatAccessRow] {
        seatAccess(ownership).compactMap { productID, access in
            records.first { ExactText($0.productID) == productID }.map {
                SeatAccessRow(
                    access, original: original.key, product: $0.row.productKey, environment: $0.row.environment)
            }
        }
    }
}
