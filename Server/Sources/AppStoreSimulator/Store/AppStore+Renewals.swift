import Foundation

extension AppStore {
    /// Does everything that is due for a subscription now.
    /// - Returns: the subscription afterwards.
    mutating func handleDue(_ originalTransactionID: String) -> StoreSubscription? {
        guard var subscription = state.subscriptions[originalTransactionID] else { return nil }
        switch subscription.status {
        case .active: renewOrLapse(&subscription)
        case .gracePeriod:
            subscription.status = .billingRetry
            store(subscription)
            record(
                .gracePeriodExpired, "the grace period of \(subscription.productID) is over",
                state.transactions[subscription.transactionID], subscription, notify: ("GRACE_PERIOD_EXPIRED", nil))
            followSuit(subscription, .gracePeriodExpired, notify: ("GRACE_PERIOD_EXPIRED", nil))
        case .billingRetry:
            expire(&subscription, intent: 2, subtype: "BILLING_RETRY", "its payment failed for 60 days")
        case .expired, .revoked: break
        }
        return state.subscriptions[originalTransactionID]
    }

    /// Tries to renew a subscription whose period has ended.
    private mutating func renewOrLapse(_ subscription: inout StoreSubscription) {
        guard subscription.autoRenews else {
            return expire(&subscription, intent: 1, subtype: "VOLUNTARY", "the customer cancelled it")
        }
        let key = StoreState.key(subscription.bundleID, subscription.autoRenewProductID)
        guard let product = state.products[key], let terms = product.subscription, product.isForSale else {
            return expire(&subscription, intent: 4, subtype: "PRODUCT_NOT_FOR_SALE", "the product is not for sale")
        }
        if let increase = subscription.priceIncrease {
            guard increase.isAccepted else {
                return expire(
                    &subscription, intent: 3, subtype: "PRICE_INCREASE", "the customer did not agree to the price")
            }
            subscription.renewalPrice = increase.price
            subscription.priceIncrease = nil
        }
        guard !subscription.billingFails else { return failBilling(&subscription) }
        renew(&subscription, product, terms, from: subscription.expiresDate, recovers: false)
    }

    /// The payment failed.
    private mutating func failBilling(_ subscription: inout StoreSubscription) {
        subscription.expirationIntent = 2
        subscription.gracePeriodExpiresDate = gracePeriodEnd(of: subscription)
        let hasGrace = subscription.gracePeriodExpiresDate != nil
        subscription.status = hasGrace ? .gracePeriod : .billingRetry
        store(subscription)
        let notification = ("DID_FAIL_TO_RENEW", hasGrace ? "GRACE_PERIOD" : nil)
        record(
            .billingFailed, "the payment of \(subscription.productID) failed",
            state.transactions[subscription.transactionID], subscription, notify: notification)
        followSuit(subscription, .billingFailed, notify: notification)
    }

    /// The end of the grace period after the present period; nil if the app has none.
    func gracePeriodEnd(of subscription: StoreSubscription) -> Date? {
        let days = state.apps[subscription.bundleID]?.gracePeriodDays ?? 0
        return days > 0 ? subscription.expiresDate.addingTimeInterval(Double(days) * 86_400) : nil
    }

    /// Collects the price and begins a period.
    /// - Parameter recovers: whether earlier attempts failed.
    mutating func renew(
        _ subscription: inout StoreSubscription, _ product: StoreProduct, _ terms: StoreProduct.Terms, from start: Date,
        recovers: Bool
    ) {
        guard let previous = state.transactions[subscription.transactionID] else { return }
        let transaction = beginPeriod(
            of: &subscription, product, terms, from: start, reason: .renewal, follows: previous)
        record(
            recovers ? .recovered : .renewed,
            "\(product.productID) is renewed until \(subscription.expiresDate.internet)",
            transaction, subscription, notify: ("DID_RENEW", recovers ? "BILLING_RECOVERY" : nil))
        shareWithFamily(subscription, transaction)
    }

    /// Mints the transaction of a period and makes it the present one.
    mutating func beginPeriod(
        of subscription: inout StoreSubscription, _ product: StoreProduct, _ terms: StoreProduct.Terms,
        from start: Date,
        reason: StoreTransaction.Reason, follows previous: StoreTransaction
    ) -> StoreTransaction {
        var offer: StoreOffer?
        if var remaining = subscription.offer, product.productID == subscription.productID {
            offer = terms.offers.first { $0.offerID == remaining.offerID }
            remaining.periodsLeft -= 1
            subscription.offer = remaining.periodsLeft > 0 ? remaining : nil
        } else {
            subscription.offer = nil
        }
        let transactionID = nextTransactionID(previous.environment)
        let seats = terms.invitations.map { _ in subscription.renewalSeats ?? 1 }
        var transaction = StoreTransaction(
            transactionID: transactionID, originalTransactionID: subscription.originalTransactionID,
            bundleID: subscription.bundleID, customerID: subscription.customerID, productID: product.productID,
            kind: product.kind, quantity: seats ?? 1, purchaseDate: start,
            originalPurchaseDate: previous.originalPurchaseDate,
            expiresDate: (offer?.period ?? terms.period).end(from: start),
            webOrderLineItemID: nextLineItemID(previous.environment), subscriptionGroupID: terms.groupID,
            offer: offer.map { StoreTransaction.Offer(offerID: $0.offerID, kind: $0.kind, mode: $0.mode) },
            ownership: previous.ownership, appAccountToken: previous.appAccountToken, reason: reason,
            price: offer?.price ?? (reason == .renewal ? subscription.renewalPrice : product.price),
            currency: product.currency, environment: previous.environment, restoredFrom: nil)
        transaction.seats = terms.invitations.map { StoreTransaction.Seats(invitations: $0) }
        state.transactions[transactionID] = transaction
        subscription.productID = product.productID
        subscription.autoRenewProductID = product.productID
        subscription.transactionID = transactionID
        subscription.status = .active
        subscription.expiresDate = transaction.expiresDate ?? start
        subscription.gracePeriodExpiresDate = nil
        subscription.expirationIntent = nil
        subscription.renewalSeats = seats
        store(subscription)
        return transaction
    }

    private mutating func expire(
        _ subscription: inout StoreSubscription, intent: Int, subtype: String, _ reason: String
    ) {
        subscription.status = .expired
        subscription.expirationIntent = intent
        subscription.gracePeriodExpiresDate = nil
        subscription.autoRenews = false
        store(subscription)
        record(
            .expired, "\(subscription.productID) expires: \(reason)", state.transactions[subscription.transactionID],
            subscription, notify: ("EXPIRED", subtype))
        for var follower in followers(of: subscription) where follower.status != .revoked && follower.status != .expired
        {
            follower.status = .expired
            follower.expirationIntent = intent
            store(follower)
            record(
                .expired, "\(follower.productID) expires, because the subscription that it is shared from expired",
                state.transactions[follower.transactionID], follower, notify: ("EXPIRED", subtype))
        }
    }

    mutating func store(_ subscription: StoreSubscription) {
        state.subscriptions[subscription.originalTransactionID] = subscription
    }
}
