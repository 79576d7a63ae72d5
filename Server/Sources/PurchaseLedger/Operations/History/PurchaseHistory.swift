import PurchaseVerification

/// Everything known about one original transaction: the facts of its transactions, and the acts that determine their
/// owners.
struct PurchaseHistory {
    var original: OriginalRow
    let key: OriginalKey
    /// The transactions, in the order in which they were first observed.
    var records: [TransactionRecord]
    /// Transactions that better evidence assigns to another original.
    var departed: [TransactionRecord] = []
    /// The current transactions and the departed ones.
    var everyRecord: [TransactionRecord] { departed.isEmpty ? records : records + departed }
    /// The acts, in the order of the journal.
    var acts: [RecordedAct]
    /// The acts on departed transactions, which go with them.
    var departedActs: [RecordedAct] = []
    var renewal: ObservedRenewal?
    /// The renewal facts before this database transaction.
    var formerRenewal: ObservedRenewal?
    /// The newest signed status of each holder, by the holder's name.
    var statuses: [String: SignedStatus] = [:]
    /// The statuses before this database transaction.
    var formerStatuses: [String: SignedStatus] = [:]
    /// The lot before this database transaction, if the product is a consumable.
    var formerLot: LotRow?

    var isNew: Bool { original.key == 0 }

    /// The manual revocations.
    var revocations: [HandRevocationOfPurchase] = []
    /// Whether something other than facts and owners changed, such as a manual revocation.
    var isTouched = false

    /// Whether entitlements can change.
    var isChanged: Bool {
        isTouched || records.contains(where: \.isChanged) || renewal !== formerRenewal
            || hasStatusNews || acts.contains { $0.entry == nil }
    }

    /// Whether a status of revocation came or went. Other statuses decide nothing.
    private var hasStatusNews: Bool {
        statuses != formerStatuses && statuses.filter(\.value.isRevoked) != formerStatuses.filter(\.value.isRevoked)
    }

    /// The newest signed status of the copies of a holder.
    func status(of holder: PurchaseHolder) -> SignedStatus? { statuses[holder.name] }

    /// Whether one of its transactions is a period of a subscription.
    var isSubscription: Bool {
        records.contains { $0.facts.kind == .autoRenewable || $0.row.kind == .autoRenewable }
    }

    /// Takes over what is stored about the subscription.
    mutating func read(_ news: RenewalsTable.News) {
        (renewal, formerRenewal) = (news.renewal, news.renewal)
        (statuses, formerStatuses) = (news.statuses, news.statuses)
    }

    /// The owner of each transaction.
    ///
    /// What was bought after the erasure of a customer does not follow the erased purchases: it has the owner that it
    /// would have without them (docs/ledger.md, "Erasure").
    ///
    /// - Parameters:
    ///   - merges: the merges of the customers involved, each with its journal entry.
    ///   - isErased: whether a customer was erased.
    func ownership(
        of holder: PurchaseHolder, tokens: TokenAssignments, merges: [OwnershipAct],
        isErased: (Int64) throws(LedgerStorageError) -> Bool
    ) throws(LedgerStorageError) -> Ownership {
        let own = records.filter { $0.facts.ownership.holder == holder }
        return Ownership(owners: try owners(of: own, tokens, merges, isErased))
    }

    /// The owners of some transactions. Those that were bought after an erasure, and would follow the erased purchases,
    /// are separated from the rest.
    private func owners(
        of own: [TransactionRecord], _ tokens: TokenAssignments, _ merges: [OwnershipAct],
        _ isErased: (Int64) throws(LedgerStorageError) -> Bool
    ) throws(LedgerStorageError) -> [TransactionKey: TransactionOwner] {
        let all = Set(own.map(\.facts.key))
        for time in Set(own.filter(\.isErased).map(\.row.knownAt)).sorted() {
            let erased = own.filter { $0.isErased && $0.row.knownAt == time }.map(\.facts.key)
            let later = own.map { ($0.facts.key, $0.date) }.filter { $0.1 > time && !erased.contains($0.0) }.map(\.0)
            guard !later.isEmpty else { continue }
            let former = ownership(of: all, tokens, merges, ignoringActsOn: Set(later)).owners
            var customers: Set<CustomerNumber> = []
            for key in erased {
                guard let customer = former[key]?.customer, try isErased(customer.rawValue) else { continue }
                customers.insert(customer)
            }
            let free = Set(later.filter { former[$0]?.customer.map(customers.contains) ?? false })
            guard !free.isEmpty else { continue }
            let kept = try owners(of: own.filter { !free.contains($0.facts.key) }, tokens, merges, isErased)
            let freed = try owners(of: own.filter { free.contains($0.facts.key) }, tokens, merges, isErased)
            return kept.merging(freed) { kept, _ in kept }
        }
        return ownership(of: all, tokens, merges).owners
    }

    /// The owners of some transactions, as if the original had no others.
    ///
    /// - Parameter ignored: transactions whose acts do not count.
    private func ownership(
        of keys: Set<TransactionKey>, _ tokens: TokenAssignments, _ merges: [OwnershipAct],
        ignoringActsOn ignored: Set<TransactionKey> = []
    ) -> Ownership {
        let own = records.filter { keys.contains($0.facts.key) }
        guard !own.isEmpty else { return Ownership(owners: [:]) }
        let contents = acts.filter { keys.contains($0.transaction) && !ignored.contains($0.transaction) }.map { act in
            let customer = CustomerNumber(rawValue: act.customerKey)
            let content: OwnershipAct.Content =
                switch act.kind {
                case .claim: .claim(transaction: act.transaction, customer: customer, mayTransfer: false)
                case .movingClaim: .claim(transaction: act.transaction, customer: customer, mayTransfer: true)
                case .move:
                    .move(transaction: act.transaction, from: act.formerKey.map(CustomerNumber.init), to: customer)
                }
            return OwnershipAct(entry: act.entry ?? .max, content: content)
        }
        let ordered = merges.isEmpty ? contents : (contents + merges).sorted { $0.entry < $1.entry }
        return Ownership(OwnershipInput(transactions: own.map(\.facts), tokens: tokens, acts: ordered))
    }

    /// The purchases, with any owner.
    var purchases: [OwnedPurchase] {
        holders.flatMap { purchases(of: $0, Ownership(owners: [:])) }
    }

    /// The holders of its transactions. Nearly all originals have only the buyer.
    var holders: [PurchaseHolder] {
        guard records.contains(where: { $0.facts.ownership.holder != .buyer }) else {
            return records.isEmpty ? [] : [.buyer]
        }
        return Set(records.map(\.facts.ownership.holder)).sorted { $0.names.lexicographicallyPrecedes($1.names) }
    }

    /// The transactions with a new owner who has the same purchase by another transaction: one that had an owner
    /// before, or the first of several with a new owner. Restoring makes such copies.
    var copies: Set<TransactionKey> {
        // Most originals have one transaction.
        guard records.count > 1, records.contains(where: \.hasFirstOwner) else { return [] }
        let places = Dictionary(
            records.indices.map { (records[$0].facts.key, $0) }, uniquingKeysWith: { first, _ in first })
        var copies: Set<TransactionKey> = []
        for purchase in purchases where purchase.transactions.count > 1 {
            let owned = purchase.transactions.compactMap { places[$0.key] }.sorted().map { records[$0] }
                .filter { $0.row.ownerKey != nil }
            var owners = Set(owned.filter { !$0.hasFirstOwner }.map(\.row.ownerKey))
            for record in owned where record.hasFirstOwner {
                if !owners.insert(record.row.ownerKey).inserted { copies.insert(record.facts.key) }
            }
        }
        return copies
    }

    /// The withdrawal of the purchase of each transaction by the former facts.
    var formerWithdrawals: [TransactionKey: Withdrawal] {
        let former = records.filter { !$0.isErased }.compactMap(\.formerFacts)
        guard former.contains(where: { $0.lastWithdrawal != nil }) else { return [:] }
        let terms = Dictionary(
            records.compactMap { record in record.formerTerms.map { (record.facts.key, $0) } },
            uniquingKeysWith: { first, _ in first })
        var withdrawals: [TransactionKey: Withdrawal] = [:]
        for (_, transactions) in Dictionary(grouping: former, by: \.ownership) {
            let purchases = PurchaseGrouping.purchases(of: transactions, owners: Ownership(owners: [:])) {
                terms[$0.key]
            }
            for purchase in purchases {
                guard let withdrawal = purchase.withdrawal else { continue }
                for transaction in purchase.transactions { withdrawals[transaction.key] = withdrawal }
            }
        }
        return withdrawals
    }

    /// The transactions of the periods that only a signed status withdraws at a time, by the former facts and now.
    /// Nearly no original has one.
    func withdrawnByStatus(at moment: Timestamp) -> (before: Set<TransactionKey>, now: Set<TransactionKey>) {
        func withdrawn(
            _ facts: [ObservedTransaction], _ terms: [TransactionKey: ProductTerms], _ renewal: ObservedRenewal?,
            _ statuses: [String: SignedStatus]
        ) -> Set<TransactionKey> {
            guard statuses.values.contains(where: \.isRevoked) else { return [] }
            var keys: Set<TransactionKey> = []
            for (holder, facts) in Dictionary(grouping: facts, by: \.ownership.holder) {
                let periods = PurchaseGrouping.purchases(of: facts, owners: Ownership(owners: [:])) { terms[$0.key] }
                    .filter { ($0.statedKind ?? $0.terms?.kind) == .autoRenewable }
                let table = SubscriptionTable(periods, renewal: renewal, status: statuses[holder.name])
                keys.formUnion(table.withdrawnByStatus(.now(moment)))
            }
            return keys
        }
        let known = records.filter { !$0.isErased }
        func terms(_ terms: (TransactionRecord) -> ProductTerms?) -> [TransactionKey: ProductTerms] {
            Dictionary(
                known.compactMap { record in terms(record).map { (record.facts.key, $0) } },
                uniquingKeysWith: { first, _ in first })
        }
        return (
            withdrawn(known.compactMap(\.formerFacts), terms(\.formerTerms), formerRenewal, formerStatuses),
            withdrawn(known.map(\.facts), terms(\.terms), renewal, statuses)
        )
    }

    /// The withdrawn units of each purchase where they changed, before and now. One transaction of the purchase reports
    /// them: the first whose facts changed.
    ///
    /// - Parameter seats: whether a refund of some seats, which withdraws nothing, counts.
    func withdrawalNews(countingSeats seats: Bool) -> [TransactionKey: (before: Int64, now: Int64)] {
        func isRelevant(_ facts: ObservedTransaction) -> Bool {
            facts.lastWithdrawal != nil || seats && facts.refundedSeats > 0
        }
        guard records.contains(where: { isRelevant($0.facts) || $0.formerFacts.map(isRelevant) ?? false })
        else { return [:] }
        let former = formerWithdrawals
        var news: [TransactionKey: (before: Int64, now: Int64)] = [:]
        for purchase in purchases {
            let members = purchase.transactions.compactMap { transaction in
                index(of: transaction.key).map { records[$0] }
            }
            guard let reporting = members.first(where: { $0.formerFacts !== $0.facts }) else { continue }
            let known = members.filter { !$0.isNew }
            var before = known.compactMap { former[$0.facts.key]?.units }.max() ?? 0
            var now = purchase.withdrawal?.units ?? 0
            if seats {
                before = max(before, known.compactMap(\.formerFacts?.refundedSeats).max() ?? 0)
                now = max(now, members.map(\.facts.refundedSeats).max() ?? 0)
            }
            if before != now { news[reporting.facts.key] = (before, now) }
        }
        return news
    }

    /// Whether a transaction added seats to a period of which the buyer had a transaction before.
    func isAddition(_ record: TransactionRecord) -> Bool {
        guard record.facts.seats != nil, let productID = record.facts.productID else { return false }
        let had = records.filter { $0.formerRow?.ownerKey != nil && $0.facts.ownership == record.facts.ownership }
        let own = purchases(of: record.facts.ownership.holder, Ownership(owners: [:]))
        return SubscriptionSeats(own, of: productID)
            .isPeriod(of: record.facts.key, sharedWith: Set(had.map(\.facts.key)))
    }

    /// The last act on transactions of the same holder.
    func lastAct(besides key: TransactionKey) -> RecordedAct? {
        let holder = { (transaction: TransactionKey) in
            index(of: transaction).map { records[$0].facts.ownership.holder } ?? .buyer
        }
        let holderHere = holder(key)
        return acts.last { holder($0.transaction) == holderHere }
    }

    /// The manual revocations of a holder's copies.
    func handRevocations(of holder: PurchaseHolder) -> [HandRevocation] {
        revocations.compactMap { revocation in
            let named = revocation.transactionID.flatMap { id in
                records.first { $0.facts.key.transactionID == id && $0.facts.ownership.holder != .buyer }
            }
            let isMeant =
                named.map { $0.facts.ownership.holder == holder }
                ?? (revocation.row.revokedShared == (holder != .buyer))
            guard isMeant else { return nil }
            return HandRevocation(
                target: .purchase(OwnershipKey(original: key, holder: holder)), from: revocation.row.startsAt,
                liftedAt: revocation.row.liftedAt)
        }
    }

    /// The renewal facts of which the events before this database transaction told. Renewal info that was signed before
    /// any period was known is told with the first one.
    var toldRenewal: ObservedRenewal? {
        let wasKnown = records.contains { record in
            record.formerFacts?.kind == .autoRenewable || record.formerRow?.kind == .autoRenewable
        }
        return wasKnown ? formerRenewal : nil
    }

    /// The period that tells whose subscription renews: the buyer's last one.
    var renewingPeriod: TransactionRecord? {
        let periods = records.filter {
            !$0.isErased && ($0.facts.kind == .autoRenewable || $0.row.kind == .autoRenewable)
        }
        let own = periods.filter { $0.facts.ownership.holder == .buyer }
        return (own.isEmpty ? periods : own).max { left, right in
            left.date == right.date
                ? ExactText.isNumericallyBefore(left.facts.key.transactionID, right.facts.key.transactionID)
                : left.date < right.date
        }
    }

    /// The position of a transaction.
    func index(of key: TransactionKey) -> Int? { records.firstIndex { $0.facts.key == key } }
}

extension HandGrantsTable {
    /// The revocations of an original, with the transactions that they name.
    func revocationsOfPurchases(ofOriginal key: Int64) throws(LedgerStorageError) -> [HandRevocationOfPurchase] {
        var found: [HandRevocationOfPurchase] = []
        for row in try revocations(ofOriginal: key) { found.append(try HandRevocationOfPurchase(row, connection)) }
        return found
    }
}
