/// The orders that follow from the change of one original: purchases pay open orders, and refunds and transfers of
/// purchases affect the orders that they paid (docs/ledger.md, "Orders").
///
/// It reads nothing: what it does not know yet, it names, and is asked again.
package struct OrderSettlement {
    /// What is needed next.
    package enum Need: Sendable, Hashable {
        /// The order that a transaction paid.
        case payment(of: TransactionKey)
        /// Further open orders that a transaction may pay, for a purchase at a time.
        case openOrders(for: TransactionKey, at: Timestamp)
        /// The orders that earlier claims of a transaction named.
        case namedOrders(for: TransactionKey)
    }

    /// A claim of the write that names an order.
    package struct NamingClaim {
        package let transaction: TransactionKey
        /// The customer of the order.
        package let customer: CustomerNumber

        package init(_ transaction: TransactionKey, of customer: CustomerNumber) {
            (self.transaction, self.customer) = (transaction, customer)
        }
    }

    package enum Decision {
        case needs([Need])
        case decided(OrderBook)
    }

    private let history: ChangedHistory
    /// The purchases from which something follows.
    private let changes: [ChangedPurchase]
    private let claim: NamingClaim?
    private let now: Timestamp

    /// - Parameter claim: a claim that names an order; if it is the owner's, its purchase pays no other order.
    package init(_ history: ChangedHistory, claim: NamingClaim?, at now: Timestamp) {
        (self.history, self.claim, self.now) = (history, claim, now)
        let withdrawals = history.formerWithdrawals
        let changed = Set(history.transactions.lazy.filter { $0.isChanged }.map { ObjectIdentifier($0.current.facts) })
        lazy var places = history.places
        changes = history.purchases.compactMap { purchase in
            let isNews = purchase.transactions.contains { withdrawals[$0.key] != purchase.withdrawal }
            // Nothing follows from the other purchases of a subscription.
            guard isNews || purchase.transactions.contains(where: { changed.contains(ObjectIdentifier($0)) }) else {
                return nil
            }
            return ChangedPurchase(
                purchase: purchase,
                members: purchase.transactions.compactMap { places[$0.key] }.map { history.transactions[$0] },
                isNews: isNews,
                formerWithdrawal: purchase.transactions.lazy.compactMap { withdrawals[$0.key] }.first)
        }
    }

    /// Decides, as far as the orders are known.
    package func decide(_ book: OrderBook) -> Decision {
        var (book, needs): (OrderBook, [Need]) = (book, [])
        for change in changes { needs += settle(change, &book) }
        needs += followErased(&book)
        return needs.isEmpty ? .decided(book) : .needs(needs)
    }

    /// Unpays the orders of purchases that were transferred before their last owner was erased. Nothing else follows
    /// from what is left of them.
    ///
    /// - Returns: what is not known yet.
    private func followErased(_ book: inout OrderBook) -> [Need] {
        let transferred = history.transactions.filter { $0.isErased && $0.isTransferred }
        let needs = payments(of: transferred, book)
        guard needs.isEmpty else { return needs }
        for transaction in transferred { followOwner(of: transaction, &book) }
        return []
    }

    /// A purchase of the original.
    private struct ChangedPurchase {
        let purchase: OwnedPurchase
        /// Its transactions, the earliest first.
        let members: [ChangedTransaction]
        /// Whether its withdrawal changed.
        let isNews: Bool
        let formerWithdrawal: Withdrawal?
    }

    /// Settles one purchase.
    ///
    /// - Returns: what is not known yet.
    private func settle(_ change: ChangedPurchase, _ book: inout OrderBook) -> [Need] {
        let known = change.members.filter { $0.former != nil }
        for member in known where member.isTransferred {
            guard book.knowsPayment(of: member.key) else { return payments(of: change.members, book) }
            followOwner(of: member, &book)
        }
        let needs = payOpenOrder(change, &book)
        guard needs.isEmpty, change.isNews else { return needs }
        let unknown = payments(of: known, book)
        guard unknown.isEmpty else { return unknown }
        for member in known { followWithdrawal(of: member, change.purchase, &book) }
        return []
    }

    private func payments(of members: [ChangedTransaction], _ book: OrderBook) -> [Need] {
        members.map(\.key).filter { !book.knowsPayment(of: $0) }.map { .payment(of: $0) }
    }

    // MARK: Paying

    private func payOpenOrder(_ change: ChangedPurchase, _ book: inout OrderBook) -> [Need] {
        let (purchase, members) = (change.purchase, change.members)
        // The purchase pays once, for its owner and at its own time, whichever copies are known.
        guard let payer = members.first(where: { $0.current.owner != nil }), let owner = payer.current.owner,
            payer.hasOwnerToPayFor || isReversed(change, payer), payer.current.terms != nil,
            let date = members.first?.current.facts.purchaseDate
        else { return [] }
        if let claim, claim.customer == owner, members.contains(where: { $0.key == claim.transaction }) { return [] }
        var claimed = self.claimed(payer, purchase)
        (claimed.isRepurchase, claimed.earliest) = (purchase.isRepurchase, members.first?.current.facts)
        guard claimed.wholeWithdrawal == nil else { return [] }
        // A copy that arrived first can have paid already.
        let unknown = payments(of: members, book)
        guard unknown.isEmpty else { return unknown }
        if members.contains(where: { book.order(paidBy: $0.key) != nil }) { return [] }
        guard let open = book.openOrders(for: payer.key) else { return [.openOrders(for: payer.key, at: date)] }
        func fitting(_ orders: [OrderBook.OpenOrder]) -> [OrderBook.OpenOrder] {
            orders.filter { !book.isChanged($0.order.key) && $0.terms.isPaid(by: claimed) }
        }
        var payable = fitting(open.orders)
        var isComplete = open.isComplete
        if !payable.isEmpty {
            let known = members.filter { $0.former != nil }.map(\.key)
            guard let named = book.orders(of: owner, namedFor: known) else {
                return known.map { .namedOrders(for: $0) }
            }
            if named.isEmpty {
                let isRenewal = claimed.isAutomaticRenewal(among: history.transactions.map(\.current.facts))
                payable = payable.filter { $0.terms.isPaidUnnamed(by: claimed, isRenewal: isRenewal) }
                let tokens = members.compactMap(\.current.facts.accountToken)
                if let own = payable.first(where: { $0.terms.token.map(tokens.contains) ?? false }) { payable = [own] }
            } else {
                // The owner's claims say which order it is for.
                (payable, isComplete) = (fitting(named), true)
            }
        }
        guard let order = payable.first else {
            return isComplete ? [] : [.openOrders(for: payer.key, at: date)]
        }
        book.pay(order.order, with: payer.key, among: members.map(\.key), at: now)
        return []
    }

    /// Whether a refund of the whole purchase was reversed, so that it counts for its customer. It paid nothing while
    /// it was refunded, and what it paid before is its order again.
    private func isReversed(_ change: ChangedPurchase, _ first: ChangedTransaction) -> Bool {
        guard change.isNews, first.isBoughtByOwner else { return false }
        var former = claimed(first, change.purchase)
        former.withdrawal = change.formerWithdrawal
        return former.wholeWithdrawal != nil
    }

    private func claimed(_ member: ChangedTransaction, _ purchase: OwnedPurchase) -> ClaimedPurchase {
        ClaimedPurchase(member.current.facts, kind: member.current.terms?.kind, withdrawal: purchase.withdrawal)
    }

    // MARK: Following purchases

    /// Unpays an order whose purchase was transferred to another customer, unless units of it were delivered before.
    private func followOwner(of member: ChangedTransaction, _ book: inout OrderBook) {
        guard let owner = member.current.owner, let order = book.order(paidBy: member.key), order.isUndelivered,
            order.customer != owner
        else { return }
        book.reopen(order.key)
    }

    /// Refunds an order whose purchase is withdrawn as a whole, and restores it if the withdrawal is reversed. A
    /// receipt's cancellation of a subscription does not refund an order, since it may be an upgrade.
    private func followWithdrawal(of member: ChangedTransaction, _ purchase: OwnedPurchase, _ book: inout OrderBook) {
        guard let order = book.order(paidBy: member.key) else { return }
        let claimed = claimed(member, purchase)
        let isCancelled = claimed.kind == .autoRenewable && purchase.withdrawal?.cause == .cancelled
        let isRefunded = !isCancelled && claimed.wholeWithdrawal != nil
        if isRefunded, order.status == .paid || order.status == .fulfilled {
            book.refund(order.key, at: now)
        } else if !isRefunded, order.status == .refunded {
            book.restore(order.key)
        }
    }
}

extension ChangedTransaction {
    /// Whether its facts, owner or terms changed.
    fileprivate var isChanged: Bool {
        guard let former else { return true }
        guard former !== current else { return false }
        return former.facts !== current.facts || former.owner != current.owner
            || former.ownerReason != current.ownerReason || former.terms != current.terms
            || former.product != current.product
    }

    /// Whether it had another owner before.
    fileprivate var isTransferred: Bool { former?.owner != nil && former?.owner != current.owner }

    /// Whether it has its first owner, or a token transferred it to another one. Claims and operators transfer what was
    /// paid for before, so the order of the new owner stays open.
    fileprivate var hasOwnerToPayFor: Bool {
        hasFirstOwner || isOwnedByToken && former?.owner != current.owner
    }

    /// Whether a token decided about the owner.
    private var isOwnedByToken: Bool {
        current.ownerReason == "account_token" || current.ownerReason == "inherited_token"
    }

    /// Whether its owner bought it, as far as is known: a token says so, or they claimed it first.
    fileprivate var isBoughtByOwner: Bool { isOwnedByToken || current.ownerReason == "claim" }
}
