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
