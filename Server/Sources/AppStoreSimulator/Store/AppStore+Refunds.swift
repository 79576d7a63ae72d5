import Foundation

extension AppStore {
    /// A customer asks for his money back; the store asks the app how much was used.
    /// - Throws: `unknown_transaction`, `wrong_state`.
    @discardableResult
    public mutating func askForRefund(of transactionID: String) throws(StoreError) -> StoreTransaction {
        let transaction = try refundable(transactionID)
        record(
            .refundAsked, "\(transaction.customerID) asks for a refund of \(transaction.productID)", transaction,
            state.subscriptions[transaction.originalTransactionID], notify: ("CONSUMPTION_REQUEST", nil))
        return transaction
    }

    /// The store gives no money back.
    /// - Throws: `unknown_transaction`, `wrong_state`.
    @discardableResult
    public mutating func declineRefund(of transactionID: String) throws(StoreError) -> StoreTransaction {
        let transaction = try refundable(transactionID)
        record(
            .refundDeclined, "\(transaction.productID) is not refunded", transaction,
            state.subscriptions[transaction.originalTransactionID], notify: ("REFUND_DECLINED", nil))
        return transaction
    }

    /// The store gives the money back. A subscription ends where its present period is refunded, and what is shared from the
    /// transaction is no longer shared.
    /// - Parameter reason: 1 for a problem with the app, 0 for anything else.
    /// - Throws: `unknown_transaction`, `wrong_state`, `invalid_value`.
    @discardableResult
    public mutating func refund(_ transactionID: String, reason: Int = 0) throws(StoreError) -> StoreTransaction {
        guard reason == 0 || reason == 1 else {
            throw StoreError(.invalidValue, "The reason is 0 or 1, not \(reason).")
        }
        var transaction = try refundable(transactionID)
        transaction.revocation = StoreTransaction.Revocation(date: now, reason: reason, kind: .refund)
        var subscription: StoreSubscription?
        for copy in copies(of: transaction) {
            setRevocation(transaction.revocation, of: copy)
            subscription = revokeSubscription(of: copy)
        }
        record(
            .refunded, "\(transaction.productID) is refunded to \(transaction.customerID)", transaction, subscription,
            notify: ("REFUND", nil))
        for shared in sharedTransactions(from: transaction) { revokeShared(shared) }
        return transaction
    }

    /// A refund turns out to be wrong and is taken back. A subscription goes on if its period still runs.
    /// - Throws: `unknown_transaction`, `wrong_state`.
    @discardableResult
    public mutating func reverseRefund(of transactionID: String) throws(StoreError) -> StoreTransaction {
        var transaction = try transaction(transactionID)
        guard transaction.revocation?.kind == .refund, transaction.restoredFrom == nil else {
            throw StoreError(.wrongState, "The transaction '\(transactionID)' was not refunded.")
        }
        transaction.revocation = nil
        let copies = copies(of: transaction)
        for copy in copies { setRevocation(nil, of: copy) }
        var subscription = state.subscriptions[transaction.originalTransactionID]
        if var revoked = subscription, copies.contains(revoked.transactionID), revoked.status == .revoked {
            revoked.status = revoked.expiresDate > now ? .active : .expired
            if revoked.status == .expired { revoked.expirationIntent = 5 }
            store(revoked)
            subscription = revoked
        }
        record(
            .refundReversed, "the refund of \(transaction.productID) is taken back", transaction, subscription,
            notify: ("REFUND_REVERSED", nil))
        return transaction
    }

    private func refundable(_ transactionID: String) throws(StoreError) -> StoreTransaction {
        let transaction = try transaction(transactionID)
        guard transaction.revocation == nil, transaction.ownership == .purchased, transaction.restoredFrom == nil else {
            throw StoreError(
                .wrongState,
                "The transaction '\(transactionID)' was refunded or revoked, or nothing was paid for it: it is shared, or restored."
            )
        }
        return transaction
    }

    /// Notes that a period, with all its restored copies, was left for a higher level.
    mutating func markUpgraded(_ transactionID: String) {
        var first = transactionID
        while let earlier = state.transactions[first]?.restoredFrom { first = earlier }
        guard let transaction = state.transactions[first] else { return }
        let now = now
        for copy in copies(of: transaction) { state.transactions[copy]?.upgradeDate = now }
    }

    /// The transaction and its restored copies.
    private func copies(of transaction: StoreTransaction) -> [String] {
        var copies = [transaction.transactionID]
        var next = transaction.restoredAs
        while let copy = next {
            copies.append(copy)
            next = state.transactions[copy]?.restoredAs
        }
        return copies
    }

    private mutating func setRevocation(_ revocation: StoreTransaction.Revocation?, of transactionID: String) {
        state.transactions[transactionID]?.revocation = revocation
    }

    /// Ends the subscription if the transaction is its present period.
    mutating func revokeSubscription(of transactionID: String) -> StoreSubscription? {
        guard let originalTransactionID = state.transactions[transactionID]?.originalTransactionID,
            var subscription = state.subscriptions[originalTransactionID]
        else { return nil }
        guard subscription.transactionID == transactionID else { return subscription }
        subscription.status = .revoked
        subscription.autoRenews = false
        subscription.gracePeriodExpiresDate = nil
        store(subscription)
        return subscription
    }
}
