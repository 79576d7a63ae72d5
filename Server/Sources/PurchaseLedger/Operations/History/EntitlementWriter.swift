import PurchaseVerification

/// Computes the entitlements of an original, and writes those that changed.
struct EntitlementWriter {
    let transaction: LedgerTransaction
    let app: RegistryApp
    /// The histories in which this write has changed anything; `nil` if they are not all known.
    var changed: [PurchaseHistory]?
    /// Whether a customer was erased. Nothing is written for them.
    var isErased: (Int64) throws(LedgerStorageError) -> Bool = { (_: Int64) throws(LedgerStorageError) in false }

    private var connection: any LedgerConnection { transaction.connection }
    private var table: EntitlementsTable { transaction.entitlements }

    /// The balances after a change, by customer.
    typealias Balances = [Int64: (balance: Int64, shortfall: Int64)]

    /// What a change leaves of an original.
    struct Written {
        /// The lot, if the product is a consumable with an owner.
        var lot: LotRow?
        /// The balances that changed.
        var balances: Balances = [:]
    }

    /// Writes the entitlements of an original.
    ///
    /// - Parameters:
    ///   - ownership: the owners, by holder.
    ///   - claimants: all customers who ever claimed it or had it transferred to them. Better facts can end the part
    ///     that one of
    ///     them has in it; then their rows are deleted.
    func write(
        _ history: PurchaseHistory, _ ownership: [PurchaseHolder: Ownership], claimants: Set<Int64>
    ) throws(LedgerStorageError) -> Written {
        var grounds: [AccessGround] = []
        var passes: Set<Chain> = []
        var written = Written()
        var lot: ConsumableLot?
        for holder in history.holders {
            let revocations = history.handRevocations(of: holder)
            let purchases = history.purchases(of: holder, ownership[holder] ?? Ownership(owners: [:]))
            guard !purchases.isEmpty else { continue }
            let access = OriginalAccess(
                purchases, renewal: history.renewal, revocations: revocations, status: history.status(of: holder))
            grounds += access.grounds
            if holder == .buyer { lot = access.lots.first }
        }
        for record in history.everyRecord
        where [record.row, record.formerRow].contains(where: { $0?.kind == .nonRenewing }) {
            for row in [record.row, record.formerRow].compactMap(\.self) {
                guard let owner = row.ownerKey else { continue }
                passes.insert(Chain(customer: owner, product: row.productKey, environment: row.environment))
            }
        }
        let mayBeErased = history.records.contains(where: \.isErased)
        if mayBeErased, let owner = lot?.owner, try isErased(owner.rawValue) { lot = nil }
        try write(grounds, of: history, claimants: claimants)
        try writeSeatAccess(history, ownership[.buyer] ?? Ownership(owners: [:]))
        if lot != nil || history.formerLot != nil {
            written = try write(lot, of: history)
            try writeOthers(of: lot, history)
        }
        for chain in passes.sorted(by: { ($0.customer, $0.product) < ($1.customer, $1.product) }) {
            if mayBeErased, try isErased(chain.customer) { continue }
            try write(chain)
        }
        return written
    }

    // MARK: Grounds

    /// Writes one row for each customer and product that had one or gets one.
    private func write(
        _ grounds: [AccessGround], of history: PurchaseHistory, claimants: Set<Int64>
    ) throws(LedgerStorageError) {
        var owners: Set<Chain> = []
        if !history.departed.isEmpty || history.records.contains(where: { $0.formerFacts !== $0.facts }) {
            for record in history.everyRecord {
                for row in [record.row, record.formerRow].compactMap(\.self) {
                    for customer in claimants where row.ownerKey != customer {
                        owners.insert(Chain(customer: customer, product: row.productKey, environment: row.environment))
                    }
                }
            }
        }
        for record in history.everyRecord {
            // A pass has a row of the original only for the note that it belongs to another customer.
            let mayHaveNote = !record.isNew && record.formerRow?.ownerKey != record.row.ownerKey
            for row in [record.row, record.formerRow].compactMap(\.self) {
                guard let owner = row.ownerKey, row.kind != .consumable, row.kind != .nonRenewing || mayHaveNote
                else { continue }
                owners.insert(Chain(customer: owner, product: row.productKey, environment: row.environment))
            }
        }
        var groundsByOwner: [Chain: [AccessGround]] = [:]
        for ground in grounds {
            guard let record = history.records.first(where: { ExactText($0.productID) == ground.productID })
            else { continue }
            let owner = Chain(
                customer: ground.customer.rawValue, product: record.row.productKey, environment: record.row.environment)
            owners.insert(owner)
            groundsByOwner[owner, default: []].append(ground)
        }
        for owner in owners.sorted(by: { ($0.customer, $0.product) < ($1.customer, $1.product) }) {
            // The current owners of an original without erased purchases are customers with names.
            let isCertain =
                !history.records.contains(where: \.isErased)
                && history.records.contains { $0.row.ownerKey == owner.customer }
            let own = groundsByOwner[owner] ?? []
            var isOfNobody = false
            if !own.isEmpty, !isCertain { isOfNobody = try isErased(owner.customer) }
            try write(isOfNobody ? [] : own, for: owner, ground: history.original.key)
        }
    }

    private func write(
        _ grounds: [AccessGround], for owner: Chain, ground: Int64
    ) throws(LedgerStorageError) {
        guard let joined = grounds.joined else {
            try table.delete(owner.customer, product: owner.product, environment: owner.environment, ground: ground)
            return
        }
        try table.write(
            EntitlementRow(
                joined.timeline, joined.kind, of: owner.customer, product: owner.product,
                environment: owner.environment, ground: ground))
    }

    // MARK: Seats

    /// Writes what a subscription gives to those who claimed its seats, if anybody did: one row for each product,
    /// however many members there are.
    private func writeSeatAccess(
        _ history: PurchaseHistory, _ ownership: Ownership
    ) throws(LedgerStorageError) {
        let isInvitedByBackend = history.everyRecord.contains {
            $0.facts.isInvitedByBackend || $0.formerFacts?.isInvitedByBackend == true
        }
        guard isInvitedByBackend, try SeatsTable(connection: connection).isClaimed(original: history.original.key)
        else { return }
        try SeatAccessTable(connection: connection).write(
            history.seatAccessRows(ownership), original: history.original.key)
        transaction.entitlementWrites?.forgetEverything()
    }

    // MARK: Passes

    /// A customer's passes of one product, which follow each other.
    private struct Chain: Hashable {
        var customer: Int64
        var product: Int64
        var environment: Int64
    }

    private func write(_ chain: Chain) throws(LedgerStorageError) {
        let grounds = try PassReader(transaction: transaction, changed: changed)
            .grounds(of: [chain.customer], product: chain.product, environment: chain.environment)
        try write(grounds, for: chain, ground: EntitlementRow.passGround)
    }

    // MARK: Balances

    /// Writes a lot and adds the difference to the balances of all customers who ever had it.
    private func write(_ lot: ConsumableLot?, of history: PurchaseHistory) throws(LedgerStorageError) -> Written {
        var row: LotRow?
        if let lot, let record = history.records.first(where: { ExactText($0.productID) == lot.productID }) {
            row = LotRow(
                lot, ground: history.original.key, product: record.row.productKey, environment: record.row.environment,
                taken: 0)
        }
        // A lot without a former owner has no used units. All of its transactions can have moved to another original.
        let isFirst = history.formerLot == nil && history.records.allSatisfy(\.isNew)
        return try write(row, former: history.formerLot, ground: history.original.key, isFirst: isFirst)
    }

    /// Writes a row without access for each customer who had the lot before its owner, or would have it without a
    /// token.
    private func writeOthers(of lot: ConsumableLot?, _ history: PurchaseHistory) throws(LedgerStorageError) {
        let others = Set((lot?.others ?? []).map(\.rawValue))
        for record in history.everyRecord where record.formerRow?.ownerKey != record.row.ownerKey {
            for row in [record.row, record.formerRow].compactMap(\.self) {
                guard let owner = row.ownerKey, !record.isNew, !others.contains(owner) else { continue }
                try table.delete(
                    owner, product: row.productKey, environment: row.environment, ground: history.original.key)
            }
        }
        guard let lot, let record = history.records.first(where: { ExactText($0.productID) == lot.productID }) else {
            return
        }
        for other in others.sorted() {
            if try isErased(other) { continue }
            try table.write(
                EntitlementRow(
                    note: .ownedByAnother, of: other, product: record.row.productKey,
                    environment: record.row.environment, ground: history.original.key))
        }
    }

    /// Replaces a lot.
    ///
    /// - Parameter isFirst: whether nobody can have used it yet.
    func write(
        _ lot: LotRow?, former: LotRow?, ground: Int64, isFirst: Bool
    ) throws(LedgerStorageError) -> Written {
        let lots = LotsTable(connection: connection)
        let takes = isFirst ? [:] : try TakesTable(connection: connection).units(of: ground)
        var lot = lot
        if let owner = lot?.customerKey { lot?.taken = takes[owner] ?? 0 }
        var written = Written(lot: lot)
        guard lot != former else { return written }
        if let lot, let former, lot.productKey != former.productKey {
            // The units of the lot are subtracted from the balance of its former product.
            let left = try write(nil, former: former, ground: ground, isFirst: false)
            written = try write(lot, former: nil, ground: ground, isFirst: false)
            written.balances.merge(left.balances) { entered, _ in entered }
            return written
        }
        if let lot {
            try lots.write(lot, isNew: former == nil)
        } else {
            try lots.delete(ground)
        }
        let customers = Set(takes.keys).union([lot?.customerKey, former?.customerKey].compactMap(\.self))
        if !takes.isEmpty { try transaction.lock(customers: { customers }) }
        for customer in customers.sorted() {
            let taken = takes[customer] ?? 0
            // A lot that is gone adds nothing, however many units were consumed: its product is not known when it
            // becomes one again.
            let (before, after) = (
                former?.part(of: customer, taken: taken) ?? ConsumableBalance(),
                lot?.part(of: customer, taken: taken) ?? ConsumableBalance()
            )
            guard let known = lot ?? former else { continue }
            let row = EntitlementRow(
                balance: (0, 0), of: customer, product: known.productKey, environment: known.environment)
            // A new owner gets a balance, even if it is empty.
            let isNewOwner = customer == lot?.customerKey && customer != former?.customerKey
            guard before != after || isNewOwner else {
                try table.explain(row)
                continue
            }
            written.balances[customer] = try transaction.add(
                after.remaining - before.remaining, shortfall: after.shortfall - before.shortfall, to: row)
        }
        return written
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
    ///
    /// - Parameter customers: the keys of one customer, of which the first counts.
    static func stored(_ history: PurchaseHistory, counting customers: [Int64] = []) -> Ownership {
        stored(history.records, counting: customers)
    }

    /// The owners stored in the rows of transactions.
    static func stored(_ records: [TransactionRecord], counting customers: [Int64] = []) -> Ownership {
        var owners: [TransactionKey: TransactionOwner] = [:]
        for record in records {
            var owner = TransactionOwner()
            owner.customer = record.row.ownerKey
                .map { customers.contains($0) ? customers[0] : $0 }
                .map(CustomerNumber.init)
            owners[record.facts.key] = owner
        }
        return Ownership(owners: owners)
    }
}
