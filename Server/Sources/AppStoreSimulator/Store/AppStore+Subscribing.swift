import Foundation

extension AppStore {
    /// Changes the product of a subscription within its group: at once to a higher level, or to a product of the same
    /// level and length; otherwise with the next period. Choosing the present product cancels a pending change.
    /// - Returns: the transaction of the present period.
    /// - Throws: `unknown_subscription`, `unknown_product`, `not_for_sale`, `wrong_state`.
    @discardableResult
    public mutating func changeProduct(
        of originalTransactionID: String, to productID: String
    ) throws(StoreError) -> StoreTransaction {
        var subscription = try subscription(originalTransactionID)
        let product = try product(productID, of: subscription.bundleID)
        let current = try self.product(subscription.productID, of: subscription.bundleID)
        guard product.isForSale else {
            throw StoreError(.notForSale, "The product '\(productID)' is not for sale.")
        }
        guard let terms = product.subscription, terms.groupID == subscription.groupID, let old = current.subscription
        else {
            throw StoreError(.wrongState, "The product '\(productID)' is not in the group '\(subscription.groupID)'.")
        }
        guard subscription.isUsable, subscription.sharedFrom == nil else {
            throw StoreError(
                .wrongState, "The subscription is \(subscription.status.rawValue), or shared by another customer.")
        }
        let present = try transaction(subscription.transactionID)
        if terms.level < old.level || (terms.level == old.level && terms.period == old.period && product != current) {
            return upgrade(&subscription, to: product, terms, from: present)
        }
        subscription.autoRenewProductID = productID
        subscription.renewalPrice = product.price
        subscription.priceIncrease = nil
        if product != current { subscription.offer = nil }
        subscription.autoRenews = true
        state.subscriptions[originalTransactionID] = subscription
        record(
            .downgraded, "\(subscription.customerID) changes to \(productID) with the next period", present,
            subscription,
            notify: ("DID_CHANGE_RENEWAL_PREF", product == current ? nil : "DOWNGRADE"))
        return present
    }

    /// Subscribes a customer: for the first time, again, or to another product of the group.
    mutating func subscribe(
        _ customer: StoreCustomer, to product: StoreProduct, _ terms: StoreProduct.Terms, _ options: PurchaseOptions
    ) throws(StoreError) -> StoreTransaction {
        let earlier = state.subscriptions.rows(ofGroup: StoreState.key(product.bundleID, customer.customerID)).filter {
            $0.groupID == terms.groupID
        }
        if let running = earlier.first(where: { $0.isUsable && $0.sharedFrom == nil }) {
            guard running.productID != product.productID || running.autoRenewProductID != product.productID else {
                throw StoreError(
                    .alreadySubscribed,
                    "'\(customer.customerID)' has '\(product.productID)' until \(running.expiresDate.internet).")
            }
            return try changeProduct(of: running.originalTransactionID, to: product.productID)
        }
        let offer = try offer(for: options.offerID, of: product, terms, isNew: earlier.isEmpty)
        let transactionID = nextTransactionID(customer.environment)
        let again = earlier.first { $0.sharedFrom == nil }
        let start = offer.map {
            $0.mode == .payUpFront ? $0.period.end(from: now, periods: $0.periods) : $0.period.end(from: now)
        }
        let expiresDate = start ?? terms.period.end(from: now)
        var transaction = StoreTransaction(
            transactionID: transactionID, originalTransactionID: again?.originalTransactionID ?? transactionID,
            bundleID: product.bundleID, customerID: customer.customerID, productID: product.productID,
            kind: product.kind, quantity: options.quantity, purchaseDate: now,
            originalPurchaseDate: again.flatMap { state.transactions[$0.originalTransactionID]?.purchaseDate } ?? now,
            expiresDate: expiresDate, webOrderLineItemID: nextLineItemID(customer.environment),
            subscriptionGroupID: terms.groupID,
            offer: offer.map { StoreTransaction.Offer(offerID: $0.offerID, kind: $0.kind, mode: $0.mode) },
            ownership: .purchased, appAccountToken: options.appAccountToken?.lowercased(), reason: .purchase,
            price: offer?.price ?? product.price, currency: product.currency, environment: customer.environment,
            restoredFrom: nil)
        transaction.seats = terms.invitations.map { StoreTransaction.Seats(invitations: $0) }
        state.transactions[transactionID] = transaction
        var subscription = StoreSubscription(
            originalTransactionID: transaction.originalTransactionID, bundleID: product.bundleID,
            customerID: customer.customerID, groupID: terms.groupID, productID: product.productID,
            transactionID: transactionID, status: .active, expiresDate: expiresDate,
            autoRenewProductID: product.productID, renewalPrice: product.price, recentStartDate: now, sharedFrom: nil)
        subscription.offer = offer.flatMap(Self.remaining)
        subscription.billingFails = again?.billingFails ?? false
        subscription.renewalSeats = terms.invitations.map { _ in options.quantity }
        state.subscriptions[subscription.originalTransactionID] = subscription
        // Also with an offer: since January 2024 Apple sends OFFER_REDEEMED for active subscriptions only.
        record(
            again == nil ? .subscribed : .resubscribed, "\(customer.customerID) subscribes to \(product.productID)",
            transaction, subscription, notify: ("SUBSCRIBED", again == nil ? "INITIAL_BUY" : "RESUBSCRIBE"))
        return transaction
    }

    /// Ends the present period and begins a period of another product at once.
    private mutating func upgrade(
        _ subscription: inout StoreSubscription, to product: StoreProduct, _ terms: StoreProduct.Terms,
        from present: StoreTransaction
    ) -> StoreTransaction {
        for left in periodTransactions(of: subscription) { markUpgraded(left.transactionID) }
        subscription.autoRenewProductID = product.productID
        subscription.renewalPrice = product.price
        subscription.priceIncrease = nil
        subscription.offer = nil
        subscription.autoRenews = true
        let transaction = beginPeriod(
            of: &subscription, product, terms, from: now, reason: .purchase, follows: present)
        record(
            .upgraded, "\(subscription.customerID) changes to \(product.productID)", transaction, subscription,
            notify: ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"))
        shareWithFamily(subscription, transaction)
        return transaction
    }

    /// The offer of a sale: the named one, or the introductory one for a new subscriber.
    private func offer(
        for offerID: String?, of product: StoreProduct, _ terms: StoreProduct.Terms, isNew: Bool
    ) throws(StoreError) -> StoreOffer? {
        guard let offerID else { return isNew ? terms.offers.first { $0.kind == .introductory } : nil }
        guard let offer = terms.offers.first(where: { $0.offerID == offerID }) else {
            throw StoreError(.unknownOffer, "The product '\(product.productID)' has no offer '\(offerID)'.")
        }
        switch offer.kind {
        case .introductory where !isNew:
            throw StoreError(.notEligible, "The customer had a subscription of this group before.")
        case .promotional where isNew, .winBack where isNew:
            throw StoreError(.notEligible, "The offer is for customers who had a subscription of this group before.")
        default: return offer
        }
    }

    /// The rest of an offer after its first transaction.
    private static func remaining(_ offer: StoreOffer) -> StoreSubscription.RemainingOffer? {
        guard offer.mode != .payUpFront, offer.periods > 1 else { return nil }
        return StoreSubscription.RemainingOffer(offerID: offer.offerID, periodsLeft: offer.periods - 1)
    }
}

extension Date {
    /// RFC 3339, in UTC and whole seconds.
    var internet: String { formatted(.iso8601) }
}
