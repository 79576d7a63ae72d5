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

    /// Whether a status of revocation came or went, or one that can end a grace period without an end. Other statuses
    /// decide nothing.
    private var hasStatusNews: Bool {
        statuses != formerStatuses
            && (renewal?.statements.contains(where: \.info.isGraceEndUnknown) ?? false
                || statuses.filter(\.value.isRevoked) != formerStatuses.filter(\.value.isRevoked))
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
    /// - Parameter identities: the customers involved, whose merges were read.
    func ownership(
        of holder: PurchaseHolder, tokens: TokenAssignments, _ identities: CustomerIdentities
    ) throws(LedgerStorageError) -> Ownership {
        let merges = identities.mergeActs
        let own = records.filter { $0.facts.ownership.holder == holder }
        var owners = try owners(of: own, tokens, merges, identities)
        // Only an earlier act can give something to somebody who was erased since.
        guard acts.contains(where: { $0.entry != nil }) else { return Ownership(owners: owners) }
        let withErased = own.filter(\.isErased).compactMap { owners[$0.facts.key]?.customer?.rawValue }
        // Whoever owns a purchase that was not erased has a name.
        let known = Set(withErased + own.filter { !$0.isErased }.compactMap { $0.formerRow?.ownerKey })
        for record in own where !record.isErased {
            guard let owner = owners[record.facts.key], let customer = owner.customer?.rawValue,
                !known.contains(customer), try identities.isErasedBefore(customer)
            else { continue }
            // Only what was bought before stays theirs. Otherwise, what a customer did who has no name gives them
            // nothing: the one before them has it.
            var former = TransactionOwner()
            for other in owner.others where try !identities.isErasedBefore(other.rawValue) {
                former = TransactionOwner(customer: other, ground: owner.ground)
            }
            owners[record.facts.key] = former
        }
        return Ownership(owners: owners)
    }

    /// The owners of some transactions. Those that were bought after an erasure, and would follow the erased purchases,
    /// are separated from the rest.
    private func owners(
        of own: [TransactionRecord], _ tokens: TokenAssignments, _ merges: [OwnershipAct],
        _ identities: CustomerIdentities
    ) throws(LedgerStorageError) -> [TransactionKey: TransactionOwner] {
        let all = Set(own.map(\.facts.key))
        for time in Set(own.filter(\.isErased).map(\.row.knownAt)).sorted() {
            let erased = own.filter { $0.isErased && $0.row.knownAt == time }.map(\.facts.key)
            let later = own.map { ($0.facts.key, $0.date) }.filter { $0.1 > time && !erased.contains($0.0) }.map(\.0)
            guard !later.isEmpty else { continue }
            let former = ownership(of: all, tokens, merges, ignoringActsOn: Set(later)).owners
            var customers: Set<CustomerNumber> = []
            for key in erased {
                guard let customer = former[key]?.customer, try identities.isErased(customer.rawValue) else { continue }
                customers.insert(customer)
            }
            let free = Set(later.filter { former[$0]?.customer.map(customers.contains) ?? false })
            guard !free.isEmpty else { continue }
            let kept = try owners(of: own.filter { !free.contains($0.facts.key) }, tokens, merges, identities)
            let freed = try owners(of: own.filter { free.contains($0.facts.key) }, tokens, merges, identities)
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
        records.map(\.current).holders
    }

    /// What changed, for the decisions that follow from it.
    var change: ChangedHistory {
        var change = ChangedHistory(records.map(\.change))
        change.departed = departed.map(\.change)
        (change.renewal, change.formerRenewal) = (renewal, formerRenewal)
        (change.statuses, change.formerStatuses) = (statuses, formerStatuses)
        return change
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
            // The erasure of a member's customer deletes the name of the copy, of which nothing is left to revoke. It
            // must not stand for the copies of the others.
            let isMeant =
                revocation.row.revokedShared ? named?.facts.ownership.holder == holder : holder == .buyer
            guard isMeant else { return nil }
            return HandRevocation(
                target: .purchase(OwnershipKey(original: key, holder: holder)), from: revocation.row.startsAt,
                liftedAt: revocation.row.liftedAt)
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
