import PurchaseVerification

/// The rows of a merged customer that move to the customer who remains (docs/ledger.md, "A merge in progress").
///
/// A step moves everything of one original, and gives the same rows whenever it runs. So a merge can pause after any
/// step, and a write that reads an original takes its step first.
struct CustomerMove {
    /// The originals that a piece reads at a time.
    private static let pageSize: Int64 = 64

    let transaction: LedgerTransaction
    let app: RegistryApp
    let row: CustomerMoveRow

    private var connection: any LedgerConnection { transaction.connection }
    private var from: Int64 { row.customerKey }
    private var to: Int64 { row.targetKey }

    init(_ row: CustomerMoveRow, _ transaction: LedgerTransaction, app: RegistryApp? = nil) throws(LedgerStorageError) {
        self.row = row
        self.transaction = transaction
        if let app {
            self.app = app
        } else {
            let key = try transaction.customers.row(row.targetKey).appKey
            // The app may have been removed from the settings.
            self.app =
                transaction.registry.app(key: key)
                ?? RegistryApp(key: key, settings: RegisteredApp(id: "", bundleIDs: []))
        }
    }

    // MARK: With the merge

    /// Moves what is not counted in originals: manual grants with their access, claimed seats, the consent to
    /// tell Apple of use, signed offers, and the right of a tester.
    func begin() throws(LedgerStorageError) {
        let grants = HandGrantsTable(connection: connection)
        for grant in try grants.rows(of: from) {
            try grants.move(grant.key, to: to)
            guard
                var entitlement = try transaction.entitlements.row(
                    from, product: grant.productKey, environment: grant.environment, ground: -grant.key)
            else { continue }
            try transaction.entitlements.delete(
                from, product: grant.productKey, environment: grant.environment, ground: -grant.key)
            entitlement.customerKey = to
            try transaction.entitlements.write(entitlement)
        }
        for grant in try grants.rows(of: to) { try moveLot(-grant.key) }
        try SeatsTable(connection: connection).move(from: from, to: to)
        try ConsumptionConsentsTable(connection: connection).move(from: from, to: to)
        try OfferSignaturesTable(connection: connection).move(from: from, to: to)
        transaction.entitlementWrites?.forgetEverything()
        try TestersTable(connection: connection).move(from: from, to: to)
    }

    // MARK: Afterwards

    /// The grounds of the next piece: first the originals that the merged customer owns, then those of which they have
    /// a row of access, then those from which they only took units. Empty if none is left.
    func nextGrounds() throws(LedgerStorageError) -> [Int64] {
        let owned = try transaction.transactions.originals(of: from, limit: Self.pageSize)
        guard owned.isEmpty else { return owned }
        let noted = try transaction.entitlements.ofOriginals(from, limit: Self.pageSize).map(\.ground)
        guard noted.isEmpty else { return noted }
        return try TakesTable(connection: connection).grounds(of: from, limit: Self.pageSize)
    }

    /// The parts of the ledger to which grounds belong.
    func locks(of grounds: [Int64]) throws(LedgerStorageError) -> Set<LedgerLock> {
        var customers: Set<Int64> = [to]
        var locks: Set<LedgerLock> = [try transaction.customers.row(from).lock]
        for key in grounds where key > 0 {
            let original = try OriginalsTable(connection: connection).row(key)
            let environment = try transaction.environments.environment(original.environment)
            locks.insert(.original(environment, original.originalID))
            customers.formUnion(try transaction.transactions.rows(originalKey: key).compactMap(\.ownerKey))
            for act in try OwnershipActsTable(connection: connection).rows(originalKey: key) {
                customers.formUnion([act.row.customerKey, act.row.formerKey].compactMap(\.self))
            }
        }
        for key in customers {
            locks.insert(try transaction.customers.surviving(try transaction.customers.row(key)).lock)
        }
        return locks
    }

    /// Moves a piece. The last one ends the merge.
    ///
    /// - Parameters:
    ///   - planned: the grounds that were found before; others wait for the next piece.
    ///   - limit: about how many rows it changes. An original is never divided.
    func movePiece(_ planned: [Int64], rows limit: Int) throws(LedgerStorageError) {
        var changed = 0
        let grounds = try nextGrounds()
        let notes = Dictionary(
            grouping: try transaction.entitlements.ofOriginals(from, limit: Self.pageSize), by: \.ground)
        for ground in grounds where planned.contains(ground) && changed < limit {
            for note in notes[ground] ?? [] { try delete(note) }
            changed += ground > 0 ? try move(original: ground) : try moveLot(ground)
        }
        guard grounds.isEmpty else { return }
        let consumptions = ConsumptionsTable(connection: connection)
        guard try consumptions.move(from: from, to: to, limit: limit) == 0,
            try transaction.orders.move(from: from, to: to, limit: Int64(limit)) == 0
        else { return }
        try end()
    }

    private func end() throws(LedgerStorageError) {
        try transaction.entitlements.deleteAll(of: from)
        try CustomerMovesTable(connection: connection).delete(row)
        transaction.forgetMove()
    }

    /// Moves everything in one transaction, as a rebuild does.
    ///
    /// - Parameter unmoved: what the rebuilt ledger has not moved yet.
    func finish(besides unmoved: UnmovedRows) throws {
        for key in try transaction.transactions.originals(of: from, limit: .max) where try !isIn(unmoved, key) {
            try move(original: key)
        }
        for note in try transaction.entitlements.ofOriginals(from, limit: .max) where try !isIn(unmoved, note.ground) {
            try delete(note)
            try move(original: note.ground)
        }
        for ground in try TakesTable(connection: connection).grounds(of: from, limit: .max)
        where try !isIn(unmoved, ground) {
            if ground > 0 { try move(original: ground) } else { try moveLot(ground) }
        }
        let consumptions = ConsumptionsTable(connection: connection)
        for id in try consumptions.movable(from: from, to: to, limit: .max) where !unmoved.consumptions.contains(id) {
            try consumptions.move(id, from: from, to: to)
        }
        for order in try transaction.orders.ids(of: from, limit: .max) where !unmoved.orders.contains(order.id) {
            try transaction.orders.move(order.key, to: to)
        }
        if !unmoved.isInProgress { try end() }
    }

    private func isIn(_ unmoved: UnmovedRows, _ ground: Int64) throws(LedgerStorageError) -> Bool {
        guard ground > 0, !unmoved.originals.isEmpty else { return false }
        let original = try OriginalsTable(connection: connection).row(ground)
        let environment = try transaction.environments.environment(original.environment)
        return unmoved.originals.contains(
            OriginalKey(
                environment: environment, transactionID: ExactText(original.originalID), second: original.xcodeSecond))
    }

    /// Moves everything of an original, under the entry of the merge.
    ///
    /// - Returns: about how many rows were changed.
    @discardableResult
    func move(original key: Int64) throws(LedgerStorageError) -> Int {
        let original = try OriginalsTable(connection: connection).row(key)
        let environment = try transaction.environments.environment(original.environment)
        // The balances of the customer who remains change also if the original belongs to somebody else.
        let target = try transaction.customers.row(to)
        let survivor = try transaction.customers.surviving(target)
        try connection.lock { () throws(LedgerStorageError) in
            [.original(environment, original.originalID), survivor.lock]
        }
        try moveLot(key)
        let rows = try transaction.transactions.rows(originalKey: key)
        for row in rows {
            try transaction.entitlements.delete(
                from, product: row.productKey, environment: row.environment, ground: key)
        }
        guard let merge = try JournalTable(connection: connection).row(key: row.entryKey) else {
            throw LedgerStorageError(.corrupt, "there is no entry \(row.entryKey) of a merge")
        }
        let changes = LedgerChanges(transaction, app: app, isMoving: true)
        try changes.identities.readMerges(of: from)
        let index = try changes.history(key)
        changes.touch(index)
        try changes.settle()
        guard changes.histories[index].records.allSatisfy({ $0.row.ownerKey != from }) else {
            throw LedgerStorageError(.corrupt, "original \(key) belongs to customer \(from) after their merge")
        }
        try changes.finish(JournalEntry(key: merge.key, id: merge.id, leafHash: []))
        // Two events and a row for each transaction; a lot, two balances, two rows of access.
        return rows.count * 3 + 5
    }

    private func delete(_ note: EntitlementRow) throws(LedgerStorageError) {
        try transaction.entitlements.delete(
            from, product: note.productKey, environment: note.environment, ground: note.ground)
    }

    /// Moves a lot and the units taken from it. If one of the two customers took from a lot that the other owns, both
    /// now belong to the customer who remains.
    ///
    /// - Returns: about how many rows were changed.
    @discardableResult
    private func moveLot(_ ground: Int64) throws(LedgerStorageError) -> Int {
        let (lots, takes) = (LotsTable(connection: connection), TakesTable(connection: connection))
        let units = try takes.units(of: ground)
        let (fromUnits, toUnits) = (units[from] ?? 0, units[to] ?? 0)
        guard let former = try lots.row(ground) else {
            // An import noted units of a purchase whose product is not registered, or the lot's owner was erased. The
            // used units count if the original gets a lot.
            guard fromUnits > 0 else { return 0 }
            try takes.delete(ground, of: from)
            try takes.add(fromUnits, from: ground, by: to)
            return 2
        }
        var lot = former
        if lot.customerKey == from { lot.customerKey = to }
        if lot.customerKey == to { lot.taken = fromUnits + toUnits }
        guard lot != former || fromUnits > 0 else { return 0 }
        try lots.write(lot, isNew: false)
        if fromUnits > 0 {
            try takes.delete(ground, of: from)
            try takes.add(fromUnits, from: ground, by: to)
        }
        let (before, after) = (former.part(of: to, taken: toUnits), lot.part(of: to, taken: fromUnits + toUnits))
        try add(ConsumableBalance(), minus: former.part(of: from, taken: fromUnits), of: lot, to: from)
        // Who gets a lot has a balance, even if the lot is used up.
        try add(after, minus: before, of: lot, to: to, isNewOwner: former.customerKey == from)
        return 5
    }

    /// Adds a difference to a balance. The reason of an empty one can change without it.
    private func add(
        _ after: ConsumableBalance, minus before: ConsumableBalance, of lot: LotRow, to customer: Int64,
        isNewOwner: Bool = false
    ) throws(LedgerStorageError) {
        let row = EntitlementRow(
            balance: (0, 0), of: customer, product: lot.productKey, environment: lot.environment)
        if before != after || isNewOwner {
            _ = try transaction.entitlements.add(
                after.remaining - before.remaining, shortfall: after.shortfall - before.shortfall, to: row)
        }
        try transaction.entitlements.explain(row)
    }
}
