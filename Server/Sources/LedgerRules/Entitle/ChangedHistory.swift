import PurchaseVerification

/// The transactions of one original before and after a write, and what was and is signed about its subscription.
package struct ChangedHistory: Sendable {
    /// The transactions, in the order in which they were first observed.
    package let transactions: [ChangedTransaction]
    /// The purchases that they are, by holder.
    package let purchases: [OwnedPurchase]
    /// Transactions that better evidence assigns to another original.
    package var departed: [ChangedTransaction] = []
    package var renewal: ObservedRenewal?
    package var formerRenewal: ObservedRenewal?
    /// The newest signed status of each holder, by the holder's name.
    package var statuses: [String: SignedStatus] = [:]
    package var formerStatuses: [String: SignedStatus] = [:]

    /// - Parameter owners: the owners that the purchases have, if they are known.
    package init(_ transactions: [ChangedTransaction], owners: [PurchaseHolder: Ownership] = [:]) {
        self.transactions = transactions
        let states = transactions.map(\.current)
        purchases = states.lazy.map { $0.facts }.holders.flatMap { holder in
            states.purchases(of: holder, owners[holder] ?? Ownership(owners: [:]))
        }
    }

    /// The transactions with a new owner who has the same purchase by another transaction: one that had an owner
    /// before, or the first of several with a new owner. Restoring makes such copies.
    package var copies: Set<TransactionKey> {
        // Most originals have one transaction.
        guard transactions.count > 1, transactions.contains(where: \.hasFirstOwner) else { return [] }
        lazy var places = self.places
        var copies: Set<TransactionKey> = []
        for purchase in purchases where purchase.transactions.count > 1 {
            let owned = purchase.transactions.compactMap { places[$0.key] }.sorted().map { transactions[$0] }
                .filter { $0.current.owner != nil }
            var owners = Set(owned.filter { !$0.hasFirstOwner }.map(\.current.owner))
            for transaction in owned where transaction.hasFirstOwner {
                if !owners.insert(transaction.current.owner).inserted { copies.insert(transaction.key) }
            }
        }
        return copies
    }

    // MARK: Withdrawals

    /// The withdrawal of the purchase of each transaction by the former facts.
    package var formerWithdrawals: [TransactionKey: Withdrawal] {
        guard transactions.contains(where: { !$0.isErased && $0.former?.facts.lastWithdrawal != nil }) else {
            return [:]
        }
        let former = transactions.filter { !$0.isErased }.compactMap(\.former)
        var withdrawals: [TransactionKey: Withdrawal] = [:]
        for (ownership, states) in Dictionary(grouping: former, by: \.facts.ownership) {
            for purchase in states.purchases(of: ownership.holder, Ownership(owners: [:])) {
                guard let withdrawal = purchase.withdrawal else { continue }
                for transaction in purchase.transactions { withdrawals[transaction.key] = withdrawal }
            }
        }
        return withdrawals
    }

    /// The withdrawn units of each purchase where they changed, before and now. One transaction of the purchase reports
    /// them: the first whose facts changed. A refund of some seats counts, although it withdraws nothing.
    package var withdrawalNews: [TransactionKey: (before: Int64, now: Int64)] {
        func isRelevant(_ facts: ObservedTransaction) -> Bool {
            facts.lastWithdrawal != nil || facts.refundedSeats > 0
        }
        guard
            transactions.contains(where: {
                isRelevant($0.current.facts) || $0.former.map { isRelevant($0.facts) } ?? false
            })
        else { return [:] }
        let (former, places) = (formerWithdrawals, places)
        var news: [TransactionKey: (before: Int64, now: Int64)] = [:]
        for purchase in purchases {
            let members = purchase.transactions.compactMap { places[$0.key] }.map { transactions[$0] }
            guard let reporting = members.first(where: { $0.former?.facts !== $0.current.facts }) else { continue }
            let known = members.filter { $0.former != nil }
            let before = max(
                known.compactMap { former[$0.key]?.units }.max() ?? 0,
                known.compactMap(\.former?.facts.refundedSeats).max() ?? 0)
            let now = max(
                purchase.withdrawal?.units ?? 0, members.map(\.current.facts.refundedSeats).max() ?? 0)
            if before != now { news[reporting.key] = (before, now) }
        }
        return news
    }

    /// The transactions of the periods that only a signed status withdraws at a time, by the former facts and now.
    /// Nearly no original has one.
    package func withdrawnByStatus(at moment: Timestamp) -> (before: Set<TransactionKey>, now: Set<TransactionKey>) {
        func withdrawn(
            _ states: [ChangedTransaction.State], _ renewal: ObservedRenewal?, _ statuses: [String: SignedStatus]
        ) -> Set<TransactionKey> {
            guard statuses.values.contains(where: \.isRevoked) else { return [] }
            var keys: Set<TransactionKey> = []
            for holder in states.lazy.map(\.facts).holders {
                let periods = states.purchases(of: holder, Ownership(owners: [:]))
                    .filter { ($0.statedKind ?? $0.terms?.kind) == .autoRenewable }
                let table = SubscriptionTable(periods, renewal: renewal, status: statuses[holder.name])
                keys.formUnion(table.withdrawnByStatus(.now(moment)))
            }
            return keys
        }
        let known = transactions.filter { !$0.isErased }
        return (
            withdrawn(known.compactMap(\.former), formerRenewal, formerStatuses),
            withdrawn(known.map(\.current), renewal, statuses)
        )
    }

    // MARK: Subscriptions

    /// Whether a transaction added seats to a period of which the buyer had a transaction before.
    func isAddition(_ transaction: ChangedTransaction) -> Bool {
        let facts = transaction.current.facts
        guard facts.seats != nil, let productID = facts.productID else { return false }
        let had = transactions.filter { $0.former?.owner != nil && $0.current.facts.ownership == facts.ownership }
        let own = transactions.map(\.current).purchases(of: facts.ownership.holder, Ownership(owners: [:]))
        return SubscriptionSeats(own, of: productID).isPeriod(of: facts.key, sharedWith: Set(had.map(\.key)))
    }

    /// The renewal facts of which the events before this write told. Renewal info that was signed before any period was
    /// known is told with the first one.
    var toldRenewal: ObservedRenewal? {
        let wasKnown = transactions.contains { $0.former?.isPeriod ?? false }
        return wasKnown ? formerRenewal : nil
    }

    /// The period that tells whose subscription renews: the buyer's last one.
    var renewingPeriod: ChangedTransaction? {
        let periods = transactions.lazy.filter { !$0.isErased && $0.current.isPeriod }
        func isBefore(_ left: ChangedTransaction, _ right: ChangedTransaction) -> Bool {
            left.date == right.date
                ? ExactText.isNumericallyBefore(left.key.transactionID, right.key.transactionID)
                : left.date < right.date
        }
        return periods.filter { $0.current.facts.holder == .buyer }.max(by: isBefore) ?? periods.max(by: isBefore)
    }

    /// The position of each transaction.
    package var places: [TransactionKey: Int] {
        Dictionary(
            transactions.indices.map { (transactions[$0].key, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

extension ChangedTransaction.State {
    /// Whether it is a period of a subscription, by the facts or the settings.
    fileprivate var isPeriod: Bool { facts.kind == .autoRenewable || terms?.kind == .autoRenewable }
}

/// A transaction before and after a write.
package struct ChangedTransaction: Sendable {
    /// What the ledger knows of it; the same object before and after a write that does not change it.
    package final class State: Sendable {
        package let facts: ObservedTransaction
        /// `nil` if it is held.
        package let owner: CustomerNumber?
        /// The settings under which it counts; `nil` until they agree with the facts.
        package let terms: ProductTerms?
        /// The number of the product.
        package let product: Int64
        /// The rule that gave it its owner (`TransactionOwner.reason`).
        package let ownerReason: String?

        package init(
            _ facts: ObservedTransaction, owner: CustomerNumber?, terms: ProductTerms?, product: Int64 = 0,
            ownerReason: String? = nil
        ) {
            (self.facts, self.owner, self.terms, self.product) = (facts, owner, terms, product)
            self.ownerReason = ownerReason
        }
    }

    /// What was known before; `nil` for a new transaction.
    package let former: State?
    package let current: State
    /// Fields in which new evidence differs.
    package var contradictions: [Contradiction] = []
    /// Whether its cancellation comes from an unsigned App Store answer.
    package var isCancelledByHint = false

    package init(from former: State?, to current: State) { (self.former, self.current) = (former, current) }

    /// The key, which never changes.
    package var key: TransactionKey { current.facts.key }
    /// Whether it has an owner, and had none before.
    package var hasFirstOwner: Bool { current.owner != nil && former?.owner == nil }
    /// Whether its owner was erased. Evidence of a transaction always names its product.
    package var isErased: Bool { current.facts.productID == nil }
    /// When it was bought.
    package var date: Timestamp { current.facts.purchaseDate ?? current.facts.originalPurchaseDate ?? .epoch }
}

extension [ChangedTransaction.State] {
    /// The purchases of a holder. Nothing is left of those of erased customers.
    package func purchases(of holder: PurchaseHolder, _ ownership: Ownership) -> [OwnedPurchase] {
        let own = filter { $0.facts.holder == holder && $0.facts.productID != nil }
        guard let first = own.first else { return [] }
        let facts = own.map(\.facts)
        guard own.contains(where: { $0.terms != first.terms }) else {
            return PurchaseGrouping.purchases(of: facts, owners: ownership) { _ in first.terms }
        }
        let terms = Dictionary(
            own.compactMap { state in state.terms.map { (ObjectIdentifier(state.facts), $0) } },
            uniquingKeysWith: { first, _ in first })
        return PurchaseGrouping.purchases(of: facts, owners: ownership) { terms[ObjectIdentifier($0)] }
    }
}

extension Sequence<ObservedTransaction> {
    /// The holders. Nearly all originals have only the buyer.
    package var holders: [PurchaseHolder] {
        var (isBought, holders): (Bool, Set<PurchaseHolder>) = (false, [])
        for facts in self {
            if facts.holder == .buyer { isBought = true } else { holders.insert(facts.holder) }
        }
        if isBought { holders.insert(.buyer) }
        return holders.sorted { $0.names.lexicographicallyPrecedes($1.names) }
    }
}

/// Which of the signed values of a renewal changed (docs/ledger.md, "Changes of a renewal").
extension RenewalChange {
    /// The change between the newest statements before and after evidence; `nil` if no field changed.
    ///
    /// - Parameters:
    ///   - former: the facts before; `nil` if nothing was signed, which is compared as a subscription that renews and
    ///     has nothing else.
    ///   - current: the facts after.
    ///   - period: the transaction of the period whose commitment is shown; `nil` under rules that show none.
    package init?(from former: ObservedRenewal?, to current: ObservedRenewal, commitmentOf period: ObservedTransaction?)
    {
        self.init(
            former: former.map { Signed($0.newest, commitmentOf: period) },
            current: Signed(current.newest, commitmentOf: period))
        guard !changed.isEmpty else { return nil }
    }

    /// The fields that differ.
    public var changed: [Field] {
        let before = former?.info ?? current.info.withoutChanges
        let now = current.info
        return Field.allCases.filter { field in
            switch field {
            case .autoRenew: before.renews != now.renews
            case .nextProduct: before.following != now.following
            case .priceConsent: before.priceIncreaseStatus != now.priceIncreaseStatus
            case .billingRetry: (before.isInBillingRetry ?? false) != (now.isInBillingRetry ?? false)
            case .graceUntil:
                before.graceEnd != now.graceEnd || before.isGraceEndUnknown != now.isGraceEndUnknown
            case .offer: before.offer != now.offer
            case .commitment: before.commits != now.commits
            }
        }
    }
}

extension RenewalChange.Signed {
    /// What is shown of a statement. Account tokens, downloads and other claims identify people or devices.
    fileprivate init(_ statement: RenewalStatement, commitmentOf period: ObservedTransaction?) {
        var info = statement.info
        let commitment = period.flatMap { info.showingCommitment(of: $0).otherClaims }
        (info.accountToken, info.appTransactionID, info.otherClaims, info.recentStart) = (nil, nil, commitment, nil)
        self.init(stamp: statement.stamp, info: info)
    }
}

extension RenewalInfo {
    fileprivate var renews: Bool { autoRenewStatus != 0 }
    /// Whether another commitment follows.
    fileprivate var commits: Bool { commitment?.renews ?? true }
    fileprivate var following: ExactText? { nextProductID ?? productID }

    /// The renewal info of the same subscription before anything was changed.
    fileprivate var withoutChanges: RenewalInfo {
        var info = RenewalInfo()
        info.productID = productID ?? nextProductID
        return info
    }
}
