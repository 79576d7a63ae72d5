import PurchaseVerification

/// What events tell about the purchases of one original after a write: a function of what was known before and what is
/// known now (docs/webhooks.md).
package struct HistoryNews {
    private let history: ChangedHistory
    private let now: Timestamp

    /// - Parameter now: the time of the write.
    package init(_ history: ChangedHistory, at now: Timestamp) {
        (self.history, self.now) = (history, now)
    }

    /// The news, in the order in which they are told.
    package var news: [PurchaseNews] {
        let copies = history.copies
        let withdrawals = history.withdrawalNews
        let byStatus = history.withdrawnByStatus(at: now)
        var news: [PurchaseNews] = []
        for transaction in history.transactions {
            let key = transaction.key
            var withdrawn = withdrawals[key]
            if byStatus.before.contains(key) != byStatus.now.contains(key) {
                // A revocation that was told already, by the status, is not told again.
                let quantity = transaction.current.facts.quantity
                let now = byStatus.now.contains(key) ? quantity : withdrawn?.now ?? 0
                withdrawn = (byStatus.before.contains(key) ? quantity : withdrawn?.before ?? 0, now)
            }
            news += self.news(of: transaction, isCopy: copies.contains(key), withdrawn: withdrawn ?? (0, 0))
        }
        return news + [renewal].compactMap(\.self)
    }

    /// The news of one transaction.
    ///
    /// - Parameters:
    ///   - isCopy: whether the owner has the purchase by another transaction, so that it is not granted again.
    ///   - withdrawn: the units that were and are withdrawn, if this transaction reports it.
    private func news(
        of transaction: ChangedTransaction, isCopy: Bool, withdrawn: (before: Int64, now: Int64)
    ) -> [PurchaseNews] {
        var news: [PurchaseNews] = []
        let (current, former) = (transaction.current, transaction.former)
        let facts = current.facts
        func add(_ type: EventType, units: Int64? = nil, reason: String? = nil) {
            var one = PurchaseNews(type, of: facts.key)
            (one.units, one.until, one.reason, one.customer) = (units, facts.end, reason, current.owner)
            if let owner = former?.owner, owner != current.owner { one.former = owner }
            news.append(one)
        }
        for contradiction in transaction.contradictions { add(.contradicted, reason: contradiction.rawValue) }
        switch (former?.owner, current.owner) {
        case (nil, .some) where !isCopy:
            add(isRenewal(transaction) ? .renewed : .granted, units: facts.quantity)
        case (.some(let before), .some(let owner)) where before != owner:
            add(.transferred, units: facts.quantity)
            // A former owner also gets the event.
            if var loss = news.last {
                (loss.customer, loss.reason) = (before, PurchaseNews.toAnotherCustomer)
                news.append(loss)
            }
        default: break
        }
        if withdrawn.now > withdrawn.before {
            add(
                .revoked, units: withdrawn.now - withdrawn.before,
                reason: transaction.isCancelledByHint ? PurchaseNews.appStoreAnswer : nil)
        }
        if withdrawn.now < withdrawn.before { add(.reversed, units: withdrawn.before - withdrawn.now) }
        guard let former else { return news }
        if facts.end != former.facts.end, facts.end != nil { add(.extended) }
        if facts.upgradedAt != nil, former.facts.upgradedAt == nil { add(.upgraded) }
        if current.terms != nil, former.terms == nil { add(.registered) }
        return news
    }

    /// Whether a transaction with its first owner is a further period of a subscription, and not the first.
    private func isRenewal(_ transaction: ChangedTransaction) -> Bool {
        transaction.current.terms?.kind == .autoRenewable
            && history.transactions.contains {
                $0.former?.owner != nil && $0.key != transaction.key
                    && $0.current.facts.ownership.holder == transaction.current.facts.ownership.holder
            }
            && !history.isAddition(transaction)
    }

    private var renewal: PurchaseNews? {
        guard let renewal = history.renewal, let period = history.renewingPeriod,
            let change = RenewalChange(
                from: history.toldRenewal, to: renewal,
                commitmentOf: period.current.facts)
        else { return nil }
        var news = PurchaseNews(.renewalChanged, of: period.key)
        (news.customer, news.until, news.renewal) = (period.current.owner, change.current.info.graceEnd, change)
        return news
    }
}

/// Something that a write changed about a purchase, as an event tells it to one customer.
package struct PurchaseNews: Sendable, Equatable {
    package let type: EventType
    package let transaction: TransactionKey
    /// The customer whom the event concerns; `nil` if the purchase is held.
    package var customer: CustomerNumber?
    /// The owner before, if it is another one now.
    package var former: CustomerNumber?
    package var units: Int64?
    /// When the access ends.
    package var until: Timestamp?
    package var reason: String?
    package var renewal: RenewalChange?

    package init(_ type: EventType, of transaction: TransactionKey) {
        (self.type, self.transaction) = (type, transaction)
    }

    /// The reason of a transfer for the former owner: the units that they used are now their shortfall.
    static let toAnotherCustomer = "to_another_customer"
    /// The reason of a withdrawal that only the App Store's answer states; the name of such a journal entry.
    package static let appStoreAnswer = "app_store_answer"
}
