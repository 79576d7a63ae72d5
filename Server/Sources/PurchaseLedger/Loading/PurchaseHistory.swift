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
    /// - Parameter identities: the customers involved, whose merges were read.
    func ownership(
        of holder: PurchaseHolder, tokens: TokenAssignments, _ identities: CustomerIdentities
    ) throws(LedgerStorageError) -> Ownership {
        var (own, known): ([(facts: ObservedTransaction, knownAt: Timestamp)], Set<CustomerNumber>) = ([], [])
        own.reserveCapacity(records.count)
        for place in records.indices where records[place].facts.holder == holder {
            own.append((records[place].facts, records[place].knownAt))
            // Whoever owns a purchase that was not erased has a name.
            guard !records[place].isErased, let owner = records[place].formerOwner else { continue }
            known.insert(CustomerNumber(rawValue: owner))
        }
        let history = OwnershipHistory(
            own, acts: acts.map(\.content), merges: identities.mergeActs, tokens: tokens)
        return try history.ownership(
            known: known,
            isErased: { customer throws(LedgerStorageError) in try identities.isErased(customer.rawValue) },
            isErasedBefore: { customer throws(LedgerStorageError) in try identities.isErasedBefore(customer.rawValue) })
    }

    /// The purchases, with any owner.
    var purchases: [OwnedPurchase] {
        holders.flatMap { purchases(of: $0, Ownership(owners: [:])) }
    }

    /// The holders of its transactions. Nearly all originals have only the buyer.
    var holders: [PurchaseHolder] {
        guard records.indices.contains(where: { records[$0].facts.holder != .buyer }) else {
            return records.isEmpty ? [] : [.buyer]
        }
        return records.map(\.facts).holders
    }

    /// What changed, for the decisions that follow from it.
    func change(_ ownership: [PurchaseHolder: Ownership]) -> ChangedHistory {
        var change = ChangedHistory(records.map(\.change), owners: ownership)
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

    /// The position of a transaction: mostly the newest, so the search begins at the end.
    func index(of key: TransactionKey) -> Int? { records.indices.last { records[$0].facts.key == key } }
}

extension HandGrantsTable {
    /// The revocations of an original, with the transactions that they name.
    func revocationsOfPurchases(ofOriginal key: Int64) throws(LedgerStorageError) -> [HandRevocationOfPurchase] {
        var found: [HandRevocationOfPurchase] = []
        for row in try revocations(ofOriginal: key) { found.append(try HandRevocationOfPurchase(row, connection)) }
        return found
    }
}

/// A claim that binds, or a transfer by an operator.
struct RecordedAct {
    /// The journal entry; `nil` before it is written.
    var entry: Int64?
    var transaction: TransactionKey
    /// The claimant, or the new owner.
    var customerKey: Int64
    /// The former owner in an operator's transfer, or the guest of a takeover; `nil` for a held transaction or a claim.
    var formerKey: Int64?
    var kind: OwnershipActKind
    /// Whether one of the customers may have been merged into another since.
    var isMerged = false

    /// What the rules read of it. An act without an entry is the last one.
    var content: OwnershipAct {
        let customer = CustomerNumber(rawValue: customerKey)
        let content: OwnershipAct.Content =
            switch kind {
            case .claim: .claim(transaction: transaction, customer: customer, mayTransfer: false)
            case .movingClaim: .claim(transaction: transaction, customer: customer, mayTransfer: true)
            case .takeOver:
                .takeOver(transaction: transaction, from: CustomerNumber(rawValue: formerKey ?? 0), by: customer)
            case .move: .move(transaction: transaction, from: formerKey.map(CustomerNumber.init), to: customer)
            }
        return OwnershipAct(entry: entry ?? .max, content: content)
    }
}

/// A manual revocation of this original.
struct HandRevocationOfPurchase {
    let row: HandGrantRow
    /// The transaction that the operator named, if it is a member's. Its holder is revoked, not all members.
    let transactionID: ExactText?

    init(_ row: HandGrantRow, _ connection: any LedgerConnection) throws(LedgerStorageError) {
        self.row = row
        let details =
            row.revokedShared ? try JournalTable(connection: connection).row(key: row.entryKey)?.details : nil
        transactionID = try details.flatMap { details throws(LedgerStorageError) in
            try RevocationAddedDetails(encoded: details).transactionID.map { ExactText($0) }
        }
    }
}
