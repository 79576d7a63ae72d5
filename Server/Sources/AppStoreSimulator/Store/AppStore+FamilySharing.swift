import Foundation

extension AppStore {
    /// Shares a non-consumable or the present period of a subscription with a family member, who gets their own
    /// transactions.
    /// - Throws: `unknown_transaction`, `unknown_customer`, `not_shareable`, `wrong_state`.
    @discardableResult
    public mutating func share(_ transactionID: String, with customerID: String) throws(StoreError) -> StoreTransaction
    {
        let transaction = try transaction(transactionID)
        let member = try customer(customerID)
        let product = try product(transaction.productID, of: transaction.bundleID)
        guard product.isFamilyShareable, product.kind == .nonConsumable || product.kind == .autoRenewable else {
            throw StoreError(.notShareable, "The product '\(product.productID)' cannot be shared with a family.")
        }
        guard transaction.revocation == nil, transaction.ownership == .purchased, transaction.customerID != customerID,
            member.environment == transaction.environment,
            !copies(of: transactionID).flatMap(sharedTransactions).contains(where: { $0.customerID == customerID })
        else {
            throw StoreError(
                .wrongState,
                "The transaction '\(transactionID)' cannot be shared with '\(customerID)', or is already shared.")
        }
        let subscription = state.subscriptions[transaction.originalTransactionID]
        if product.kind == .autoRenewable {
            guard let subscription, subscription.isUsable, subscription.transactionID == transactionID else {
                throw StoreError(.wrongState, "Only the present period of a subscription can be shared.")
            }
        }
        let shared = mintShared(from: transaction, for: customerID, original: nil)
        var follower: StoreSubscription?
        if let subscription {
            follower = StoreSubscription(
                originalTransactionID: shared.transactionID, bundleID: shared.bundleID, customerID: customerID,
                groupID: subscription.groupID, productID: shared.productID, transactionID: shared.transactionID,
                status: subscription.status, expiresDate: subscription.expiresDate,
                autoRenewProductID: shared.productID, renewalPrice: 0, recentStartDate: now,
                sharedFrom: subscription.originalTransactionID)
            follower?.gracePeriodExpiresDate = subscription.gracePeriodExpiresDate
            follower?.expirationIntent = subscription.expirationIntent
            follower.map { store($0) }
        }
        record(
            .shared, "\(transaction.productID) is shared with \(customerID)", shared, follower,
            notify: product.kind == .autoRenewable ? ("SUBSCRIBED", "INITIAL_BUY") : ("ONE_TIME_CHARGE", nil))
        makeReceipt(shared.bundleID, member)
        return shared
    }

    /// Ends the sharing of a transaction with a family member.
    /// - Parameter transactionID: the member's transaction.
    /// - Throws: `unknown_transaction`, `wrong_state`.
    @discardableResult
    public mutating func revokeSharing(of transactionID: String) throws(StoreError) -> StoreTransaction {
        let transaction = try transaction(transactionID)
        guard transaction.ownership != .purchased, transaction.revocation == nil else {
            throw StoreError(.wrongState, "The transaction '\(transactionID)' is not shared.")
        }
        revokeShared(transaction)
        return try self.transaction(transactionID)
    }

    /// Ends the sharing of a transaction and of its restored copies.
    mutating func revokeShared(_ shared: StoreTransaction) {
        let revocation = StoreTransaction.Revocation(
            date: now, reason: 0, kind: shared.ownership == .assigned ? .assignment : .familySharing, percentage: nil)
        var subscription: StoreSubscription?
        for copy in copies(of: shared.transactionID) {
            state.transactions[copy]?.revocation = revocation
            subscription = revokeSubscription(of: copy)
        }
        record(
            .revoked, "\(shared.productID) is no longer shared with \(shared.customerID)",
            state.transactions[shared.transactionID], subscription, notify: ("REVOKE", nil))
    }

    /// Gives family members the period that the paying member just got.
    mutating func shareWithFamily(_ subscription: StoreSubscription, _ transaction: StoreTransaction) {
        for var follower in followers(of: subscription) where follower.status != .revoked && follower.status != .expired
        {
            if transaction.purchaseDate < follower.expiresDate { markUpgraded(follower.transactionID) }
            let shared = mintShared(from: transaction, for: follower.customerID, original: follower)
            follower.productID = shared.productID
            follower.autoRenewProductID = shared.productID
            follower.transactionID = shared.transactionID
            follower.expiresDate = subscription.expiresDate
            follower.status = .active
            follower.gracePeriodExpiresDate = nil
            follower.expirationIntent = nil
            store(follower)
            record(
                .renewed, "\(shared.productID) is renewed for \(follower.customerID), too", shared, follower,
                notify: ("DID_RENEW", nil))
        }
    }

    /// Updates the subscriptions of family members to the state of the paying member's.
    mutating func followSuit(
        _ subscription: StoreSubscription, _ kind: StoreEvent.Kind, notify: (type: String, subtype: String?)
    ) {
        for var follower in followers(of: subscription) where follower.isUsable || follower.status == .billingRetry {
            follower.status = subscription.status
            follower.expirationIntent = subscription.expirationIntent
            follower.gracePeriodExpiresDate = subscription.gracePeriodExpiresDate
            store(follower)
            record(
                kind, "\(follower.productID) of \(follower.customerID) follows the subscription that it is shared from",
                state.transactions[follower.transactionID], follower, notify: notify)
        }
    }

    /// The subscriptions of family members, oldest first.
    func followers(of subscription: StoreSubscription) -> [StoreSubscription] {
        state.subscriptions.sorted { $0.sharedFrom == subscription.originalTransactionID }
    }

    /// The family members' copies of a transaction: the same product at the same time, not revoked.
    func sharedTransactions(from transactionID: String) -> [StoreTransaction] {
        state.transactions.sorted {
            $0.ownership != .purchased && $0.revocation == nil && $0.sharedFromTransactionID == transactionID
        }
    }

    /// Mints the transaction of a family member, or of a member with a seat.
    mutating func mintShared(
        from transaction: StoreTransaction, for customerID: String, original: StoreSubscription?,
        as ownership: StoreTransaction.Ownership = .familyShared
    ) -> StoreTransaction {
        let transactionID = nextTransactionID(transaction.environment)
        let first = original.flatMap { state.transactions[$0.originalTransactionID] }
        let isSubscription = transaction.kind == .autoRenewable
        var shared = StoreTransaction(
            transactionID: transactionID, originalTransactionID: first?.transactionID ?? transactionID,
            bundleID: transaction.bundleID, customerID: customerID, productID: transaction.productID,
            kind: transaction.kind, quantity: 1, purchaseDate: isSubscription ? transaction.purchaseDate : now,
            originalPurchaseDate: first?.purchaseDate ?? now, expiresDate: transaction.expiresDate,
            webOrderLineItemID: isSubscription ? nextLineItemID(transaction.environment) : nil,
            subscriptionGroupID: transaction.subscriptionGroupID, offer: nil,
            ownership: first?.ownership ?? ownership,
            appAccountToken: nil, reason: original == nil ? .purchase : .renewal, price: 0,
            currency: transaction.currency, environment: transaction.environment, restoredFrom: nil)
        shared.sharedFromTransactionID = transaction.transactionID
        shared.seats = transaction.seats.map { StoreTransaction.Seats(invitations: $0.invitations) }
        state.transactions[transactionID] = shared
        return shared
    }
}
