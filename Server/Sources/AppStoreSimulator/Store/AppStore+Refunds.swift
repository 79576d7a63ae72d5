import Foundation

extension AppStore {
    /// The customer requests a refund; the store asks the app for the consumption.
    /// - Throws: `unknown_transaction`, `wrong_state`.
    @discardableResult
    public mutating func askForRefund(of transactionID: String) throws(StoreError) -> StoreTransaction {
        let transaction = try refundable(transactionID)
        if state.summary.refundOdds != nil {
            var requests = state.summary.refundRequests ?? [:]
            requests[transactionID] = RefundRequest(date: now)
            state.summary.refundRequests = requests
        }
        record(
            .refundAsked, "\(transaction.customerID) asks for a refund of \(transaction.productID)", transaction,
            state.subscriptions[transaction.originalTransactionID], notify: ("CONSUMPTION_REQUEST", nil))
        return transaction
    }

    /// The store declines the refund.
    /// - Throws: `unknown_transaction`, `wrong_state`.
    @discardableResult
    public mutating func declineRefund(of transactionID: String) throws(StoreError) -> StoreTransaction {
        let transaction = try refundable(transactionID)
        forgetRefundRequest(of: transactionID)
        record(
            .refundDeclined, "\(transaction.productID) is not refunded", transaction,
            state.subscriptions[transaction.originalTransactionID], notify: ("REFUND_DECLINED", nil))
        return transaction
    }

    /// Refunds a transaction, in full or in part. A subscription ends if its present period is refunded, even in part,
    /// and shared copies of the transaction are revoked.
    /// - Parameters:
    ///   - reason: 1 for a problem with the app, 0 for anything else.
    ///   - percentage: how much is refunded with all earlier refunds of the transaction, in thousandths of a percent, 1
    ///     to
    ///     100,000, and more than before; nil for all of it. One of three units is 33,333.
    /// - Throws: `unknown_transaction`, `wrong_state`, `invalid_value`.
    @discardableResult
    public mutating func refund(
        _ transactionID: String, reason: Int = 0, percentage: Int64? = nil
    ) throws(StoreError) -> StoreTransaction {
        guard reason == 0 || reason == 1 else {
            throw StoreError(.invalidValue, "The reason is 0 or 1, not \(reason).")
        }
        let whole = StoreTransaction.Revocation.wholePercentage
        guard (1...whole).contains(percentage ?? whole) else {
            throw StoreError(
                .invalidValue, "A refund is 1 to \(whole) thousandths of a percent, not \(percentage ?? whole).")
        }
        var transaction = try refundable(transactionID)
        guard percentage == nil || transaction.seats == nil else {
            throw StoreError(.invalidValue, "Seats are refunded by their number, not by a percentage.")
        }
        let earlier = transaction.revocation?.percentage ?? 0
        guard percentage ?? whole > earlier else {
            throw StoreError(
                .wrongState,
                "\(earlier) thousandths of a percent of the transaction '\(transactionID)' are already refunded.")
        }
        forgetRefundRequest(of: transactionID)
        transaction.revocation = StoreTransaction.Revocation(
            date: now, reason: reason, kind: .refund, percentage: percentage)
        if transaction.seats != nil { return refundAllSeats(of: transaction, subtype: nil) }
        let copies = copies(of: transactionID)
        var subscription: StoreSubscription?
        for copy in copies {
            state.transactions[copy]?.revocation = transaction.revocation
            subscription = revokeSubscription(of: copy)
        }
        let part = transaction.revocation?.isPartial == true ? "refunded in part" : "refunded"
        record(
            .refunded, "\(transaction.productID) is \(part) to \(transaction.customerID)", transaction, subscription,
            notify: ("REFUND", nil))
        // A restored copy ends with its source.
        for shared in copies.flatMap(sharedTransactions) where shared.restoredFrom == nil { revokeShared(shared) }
        return transaction
    }

    /// Reverses all refunds of a transaction. A subscription continues if its period or its grace period has not ended.
    /// - Throws: `unknown_transaction`, `wrong_state`.
    @discardableResult
    public mutating func reverseRefund(of transactionID: String) throws(StoreError) -> StoreTransaction {
        var transaction = try transaction(transactionID)
        let hasRevokedSeats = transaction.seats.map { $0.revoked > 0 } ?? false
        guard transaction.revocation?.kind == .refund || hasRevokedSeats, transaction.restoredFrom == nil else {
            throw StoreError(.wrongState, "The transaction '\(transactionID)' was not refunded.")
        }
        transaction.revocation = nil
        transaction.seats?.revoked = 0
        let copies = copies(of: transactionID)
        for copy in copies {
            state.transactions[copy]?.revocation = nil
            state.transactions[copy]?.seats?.revoked = 0
        }
        var subscription = state.subscriptions[transaction.originalTransactionID]
        if var revoked = subscription, revoked.status == .revoked,
            copies.contains(revoked.transactionID) || isOfPresentPeriod(transaction, of: revoked)
        {
            if revoked.expiresDate > now {
                revoked.status = .active
            } else if let graceEnd = gracePeriodEnd(of: revoked), revoked.expirationIntent == 2, graceEnd > now {
                revoked.status = .gracePeriod
                revoked.gracePeriodExpiresDate = graceEnd
            } else {
                revoked.status = .expired
                revoked.expirationIntent = 5
            }
            store(revoked)
            subscription = revoked
        }
        record(
            .refundReversed, "the refund of \(transaction.productID) is reversed", transaction, subscription,
            notify: ("REFUND_REVERSED", nil))
        return transaction
    }

    func refundable(_ transactionID: String) throws(StoreError) -> StoreTransaction {
        let transaction = try transaction(transactionID)
        let isRefunded = transaction.revocation.map { !$0.isPartial } ?? false
        guard !isRefunded, transaction.ownership == .purchased, transaction.restoredFrom == nil else {
            throw StoreError(
                .wrongState,
                "The transaction '\(transactionID)' was refunded or revoked, or nothing was paid for it: it is shared, or restored."
            )
        }
        return transaction
    }

    /// Notes that a period, with all its restored copies, was left for a higher level.
    mutating func markUpgraded(_ transactionID: String) {
        let now = now
        for copy in copies(of: transactionID) { state.transactions[copy]?.upgradeDate = now }
    }

    /// The transaction, the source that it is a restored copy of, and all other copies; the source first.
    func copies(of transactionID: String) -> [String] {
        var first = transactionID
        while let earlier = state.transactions[first]?.restoredFrom { first = earlier }
        var copies = [first]
        while let copy = copies.last.flatMap({ state.transactions[$0]?.restoredAs }) { copies.append(copy) }
        return copies
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
