import PurchaseVerification

/// The changes of one database transaction to facts, owners, entitlements and orders.
///
/// The order is: observe; act; settle, which computes owners, pays orders, and writes facts and entitlements; append
/// the journal entry; finish, which writes the rows that refer to the entry. Until it is settled, almost everything is
/// in memory.
final class LedgerChanges {
    let transaction: LedgerTransaction
    let app: RegistryApp
    let open: OpenHistories
    private let situation: Situation?
    /// The orders that it pays, refunds or restores.
    let payments: OrderPayments
    let identities: CustomerIdentities
    /// Whether a statement about a renewal or a status was new.
    var hasNewRenewal = false
    /// What changed in each history, once it was asked for.
    private var changed: [Int: ChangedHistory] = [:]
    /// For each history, the owners by holder. `own` computes them.
    private var ownerships: [[PurchaseHolder: Ownership]] = []
    /// The lots and balances after the change, by the position of the history.
    private var written: [(lot: LotRow?, balances: Balances)] = []

    init(_ transaction: LedgerTransaction, app: RegistryApp) {
        self.transaction = transaction
        self.app = app
        identities = CustomerIdentities(transaction, app: app)
        payments = OrderPayments(transaction, app: app, identities)
        situation = transaction.situation
        open = OpenHistories(transaction, app: app, identities, situation)
    }

    var connection: any LedgerConnection { transaction.connection }

    /// All histories that were read, with their changes.
    var histories: [PurchaseHistory] { open.histories }

    /// Whether facts, renewal info, owners or orders changed. A claim that changes no owner is no news.
    var hasNews: Bool {
        hasNewRenewal || payments.hasChanges
            || histories.contains { history in
                history.isTouched || !history.departed.isEmpty || history.records.contains(where: \.isChanged)
                    || history.renewal !== history.formerRenewal
            }
    }

    /// The position of a known transaction. Its history is read if necessary.
    func place(
        of key: TransactionKey, environment: Int64
    ) throws(LedgerStorageError) -> (history: Int, record: Int)? {
        try open.place(of: key, environment: environment)
    }

    /// The position of the history of a stored original.
    func history(_ originalKey: Int64) throws(LedgerStorageError) -> Int { try open.history(originalKey) }

    // MARK: Act and own

    /// Adds a claim that binds. A claim that changes nothing is skipped: one that may not transfer and was made before,
    /// or one that repeats the last act of the original, which may transfer too. So is a claim of a transaction that
    /// has the maximum number of claims.
    ///
    /// - Parameter guest: the guest from whom it takes the original over.
    func claim(_ key: TransactionKey, by customer: Int64, mayTransfer: Bool, from guest: Int64?, in index: Int) {
        let kind = guest != nil ? OwnershipActKind.takeOver : mayTransfer ? .movingClaim : .claim
        // A claim that was refused under `deny` is not repeated by one under `move`.
        let isLast =
            open.histories[index].lastAct(besides: key).map { isClaim($0, by: customer) && $0.kind == .movingClaim }
            ?? false
        if isClaimed(key, by: customer, in: index), kind == .claim || isLast { return }
        let claims = open.histories[index].acts.count { $0.transaction == key && $0.kind != .move }
        // Claims for invented customers must not keep the buyer from taking the purchase over, once in 30 days.
        guard guest != nil || claims < OwnershipAct.claimsOfOneTransaction else { return }
        open.histories[index].acts.append(
            RecordedAct(transaction: key, customerKey: customer, formerKey: guest, kind: kind))
    }

    /// Whether a customer made a claim of a transaction that binds.
    func isClaimed(_ key: TransactionKey, by customer: Int64, in index: Int) -> Bool {
        open.histories[index].acts.contains { $0.transaction == key && isClaim($0, by: customer) }
    }

    private func isClaim(_ act: RecordedAct, by customer: Int64) -> Bool {
        identities.surviving(act.customerKey) == customer && act.kind != .move
    }

    /// The guest from whom a restore takes the original of a transaction over; `nil` if it takes nothing over.
    func guest(
        ofOriginalOf record: TransactionRecord, in index: Int, by customer: Int64, _ terms: GuestRestore
    ) throws(LedgerStorageError) -> Int64? {
        let (history, facts) = (histories[index], record.facts)
        let tokens = try identities.assignments(of: history)
        let own = history.records.filter { $0.facts.holder == facts.holder }
        let claimant = CustomerNumber(rawValue: customer)
        var takeover = GuestTakeover(of: facts, record.row.kind, by: claimant, terms)
        takeover.owner = try history.ownership(of: facts.holder, tokens: tokens, identities).owners[facts.key]?.customer
        guard let owner = takeover.owner else { return nil }
        takeover.isGuest = try transaction.customers.row(owner.rawValue).isGuest
        takeover.tokenOwners = Set(
            own.compactMap { tokens.customer(of: $0.facts) }.map {
                CustomerNumber(rawValue: identities.surviving($0.rawValue))
            })
        takeover.appTransactionIDs = Set(own.compactMap(\.facts.appTransactionID))
        let transfer = history.acts.last { act in
            (act.kind == .takeOver || act.kind == .move) && own.contains { $0.facts.key == act.transaction }
        }
        if let transfer {
            let entry = try transfer.entry.flatMap { key throws(LedgerStorageError) in
                try JournalTable(connection: connection).row(key: key)
            }
            takeover.transferredAt = entry?.at ?? transaction.now
        }
        return takeover.guest(at: transaction.now)?.rawValue
    }

    /// Adds a transfer by an operator.
    func move(_ key: TransactionKey, from former: Int64?, to customer: Int64, in index: Int) {
        open.histories[index].acts.append(
            RecordedAct(transaction: key, customerKey: customer, formerKey: former, kind: .move))
    }

    /// Marks a history so that its entitlements are computed again.
    func touch(_ index: Int) { open.histories[index].isTouched = true }

    /// Reads the revocations of a history again.
    func readRevocations(_ index: Int) throws(LedgerStorageError) {
        open.histories[index].revocations = try HandGrantsTable(connection: connection)
            .revocationsOfPurchases(ofOriginal: open.histories[index].original.key)
        open.histories[index].isTouched = true
    }

    /// Computes owners, pays orders, and writes facts and entitlements.
    ///
    /// - Parameter claim: a claim that names an order; if it is the owner's, its purchase pays no other order.
    func settle(_ claim: OrderSettlement.NamingClaim? = nil) throws(LedgerStorageError) {
        try own()
        try lockCustomers()
        changed = [:]
        for (index, history) in histories.enumerated() where history.records.contains(where: \.isChanged) {
            try payments.settle(history, change(of: index), claim)
        }
        try writeFacts()
        try writeEntitlements()
    }

    /// Computes the owners of every history that was read.
    private func own() throws(LedgerStorageError) {
        ownerships = []
        for (index, history) in histories.enumerated() {
            let tokens = try identities.assignments(of: history)
            var (ownership, records): ([PurchaseHolder: Ownership], [TransactionRecord]) = ([:], history.records)
            for holder in history.holders {
                let owners = try history.ownership(of: holder, tokens: tokens, identities)
                for place in records.indices where records[place].facts.holder == holder {
                    let owner = owners.owners[records[place].facts.key]
                    let (key, reason) = (owner?.customer?.rawValue, owner?.reason)
                    // Most transactions keep theirs.
                    guard !records[place].isOwned(by: key, reason: reason) else { continue }
                    (records[place].row.ownerKey, records[place].row.ownerReason) = (key, reason)
                }
                ownership[holder] = owners
            }
            open.histories[index].records = records
            ownerships.append(ownership)
        }
    }

    /// Locks all customers whose balances, entitlements or orders can change.
    private func lockCustomers() throws(LedgerStorageError) {
        try identities.lock {
            var keys: Set<Int64> = []
            for history in histories {
                for record in history.everyRecord {
                    keys.formUnion([record.row.ownerKey, record.formerRow?.ownerKey].compactMap(\.self))
                }
                for act in history.acts { keys.formUnion([act.customerKey, act.formerKey].compactMap(\.self)) }
            }
            return keys
        }
    }

    /// Whether a transaction belongs to an erased customer: it was bought before the erasure, and stays claimed.
    func isOfErasedCustomer(_ record: TransactionRecord, besides customer: Int64) throws(LedgerStorageError) -> Bool {
        guard let owner = record.row.ownerKey, owner != customer else { return false }
        return try identities.isErased(owner)
    }

    /// The owner of a transaction that a customer claims.
    func claimedOwner(
        _ record: TransactionRecord, by customer: Int64, _ app: RegisteredApp
    ) throws(LedgerStorageError) -> ClaimedOwner {
        var owner = ClaimedOwner(record.row.ownerKey, of: record.facts, claimedBy: customer, app)
        owner.tokenOwner = try identities.customer(of: record.accountToken)
        owner.isOfErasedCustomer = try isOfErasedCustomer(record, besides: customer)
        return owner
    }

    /// The facts that decide a claim of a transaction.
    ///
    /// - Parameter order: the order that the claim names.
    func claimedPurchase(
        _ record: TransactionRecord, in index: Int, named order: OrderRow?
    ) throws(LedgerStorageError) -> ClaimedPurchase {
        let purchase = purchase(of: record, in: index)
        let copies = copies(of: record, in: index)
        var (hasPaid, keepsAnother) = (false, false)
        for copy in order == nil ? [] : copies {
            guard let paid = try payments.order(paidBy: copy) else { continue }
            if paid.key == order?.key {
                hasPaid = true
            } else if try payments.isBound(paid, to: copies) {
                keepsAnother = true
            }
        }
        let isRevoked = open.histories[index].handRevocations(of: record.facts.ownership.holder).contains {
            $0.liftedAt == nil
        }
        var claimed = ClaimedPurchase(record.facts, kind: record.row.kind, withdrawal: purchase?.withdrawal)
        (claimed.isRevokedByHand, claimed.hasPaidOrder, claimed.hasPaidAnotherOrder) = (
            isRevoked, hasPaid, keepsAnother
        )
        claimed.earliest = purchase?.transactions.first.flatMap { $0.key == record.facts.key ? nil : $0 }
        claimed.isRepurchase = purchase?.isRepurchase ?? false
        return claimed
    }

    private func purchase(of record: TransactionRecord, in index: Int) -> OwnedPurchase? {
        change(of: index).purchases.last { $0.transactions.contains { $0.key == record.facts.key } }
    }

    /// What changed in a history, with its owners. They are not computed again before the next `settle`.
    private func change(of index: Int) -> ChangedHistory {
        if let known = changed[index] { return known }
        let change = open.histories[index].change(ownerships.indices.contains(index) ? ownerships[index] : [:])
        changed[index] = change
        return change
    }

    /// The purchases of a history, with their owners once it is settled.
    func purchases(in index: Int) -> [OwnedPurchase] { change(of: index).purchases }

    /// All transactions of the purchase that a transaction belongs to, including itself.
    func copies(of record: TransactionRecord, in index: Int) -> [TransactionRecord] {
        let history = open.histories[index]
        return purchase(of: record, in: index)?.transactions.compactMap { transaction in
            history.index(of: transaction.key).map { history.records[$0] }
        } ?? [record]
    }

    /// The order that the purchase of a transaction paid earlier or pays now, and the copy that paid it.
    func payment(
        of record: TransactionRecord, in index: Int
    ) throws(LedgerStorageError) -> (order: OrderRow, copy: TransactionRecord)? {
        for copy in copies(of: record, in: index) {
            if let order = try payments.order(paidBy: copy) { return (order, copy) }
        }
        return nil
    }

    // MARK: Writing

    /// Writes originals and transactions with their owners.
    private func writeFacts() throws(LedgerStorageError) {
        transaction.noteFacts(of: self)
        for index in open.histories.indices where open.histories[index].records.contains(where: \.isChanged) {
            if open.histories[index].isNew {
                open.histories[index].original = try OriginalsTable(connection: connection)
                    .insert(open.histories[index].original)
            }
            let original = open.histories[index].original.key
            for place in open.histories[index].records.indices {
                if open.histories[index].records[place].row.originalKey != original {
                    open.histories[index].records[place].row.originalKey = original
                }
                guard open.histories[index].records[place].isChanged else { continue }
                let record = open.histories[index].records[place]
                var row = record.row
                row.facts = record.facts.encoded
                row.token = record.accountToken?.uuid
                row.appTransactionID = record.facts.appTransactionID?.string
                if row.key == 0 {
                    row.key = try transaction.transactions.insert(row)
                } else {
                    try transaction.transactions.update(row)
                }
                open.histories[index].records[place].row = row
            }
        }
    }

    /// Writes the entitlements of every history that changed. It needs the facts in the database, but no journal entry.
    private func writeEntitlements() throws(LedgerStorageError) {
        written = []
        let changedHistories = changedHistories
        for (index, (history, ownership)) in zip(histories, ownerships).enumerated() {
            guard history.isChanged, !history.isNew else {
                written.append((history.formerLot, [:]))
                continue
            }
            let claimants = (history.acts + history.departedActs).flatMap {
                [$0.customerKey, $0.formerKey].compactMap(\.self)
            }
            let step = EntitlementStep(
                transaction: transaction, changed: changedHistories,
                isErased: { [identities] customer throws(LedgerStorageError) in try identities.isErased(customer) })
            let delta = try step.delta(
                of: history, change(of: index), ownership, claimants: Set(claimants.map(identities.surviving)))
            written.append((delta.lots.first?.row, try transaction.apply(delta)))
        }
    }

    /// The histories in which this write has changed anything; `nil` if they are not all known.
    private var changedHistories: [PurchaseHistory]? {
        guard let situation else { return transaction.hasOneChange ? histories : nil }
        let open = Set(histories.map(\.original.key))
        return histories + situation.known.filter { !open.contains($0.original.key) }
    }

    /// Writes acts and orders, and the events of all changes, under a journal entry.
    ///
    /// - Parameters:
    ///   - isAnnounced: whether webhooks deliver the events.
    ///   - untold: a type of events that are not written.
    func finish(
        _ entry: JournalEntry, isAnnounced: Bool = true, besides untold: EventType? = nil
    ) throws(LedgerStorageError) {
        var delta = delta(under: entry, LedgerEvents(transaction, app: app, entry: entry, isAnnounced: isAnnounced))
        delta.events.removeAll { $0.type == untold }
        try transaction.apply(delta)
        guard let situation else { return }
        for (history, written) in zip(histories, written) where !history.isNew {
            try situation.lay(history, entry: entry.key, lot: written.lot)
        }
    }

    /// The rows that refer to the entry.
    private func delta(under entry: JournalEntry, _ events: LedgerEvents) -> Delta {
        var delta = Delta()
        for (index, history) in histories.enumerated() where !history.isNew {
            for record in history.records where record.isMoved {
                delta.movedActs.append((record.row.key, history.original.key))
            }
            delta.acts += history.acts.filter { $0.entry == nil }.compactMap { act in
                history.index(of: act.transaction).map { place in
                    OwnershipActRow(
                        originalKey: history.original.key, entryKey: entry.key,
                        transactionKey: history.records[place].row.key, customerKey: act.customerKey,
                        formerKey: act.formerKey, kind: act.kind)
                }
            }
            guard history.isChanged else { continue }
            delta.events += events.events(
                of: history, change(of: index),
                balances: written.indices.contains(index) ? written[index].balances : [:])
        }
        delta.orders = payments.changes(of: histories)
        delta.events += delta.orders.compactMap { events.event(of: $0.row, from: $0.former) }
        return delta
    }

    /// The lot of a history after the change.
    func lot(in index: Int) -> LotRow? { written.indices.contains(index) ? written[index].lot : nil }

    /// Notes the lot of a history from which units were taken after the change.
    func note(_ lot: LotRow?, in index: Int) { if written.indices.contains(index) { written[index].lot = lot } }

    /// The balance of a customer after the change, if a history changed it.
    func balance(of customer: Int64, in index: Int) -> (balance: Int64, shortfall: Int64)? {
        written.indices.contains(index) ? written[index].balances[customer] : nil
    }
}
