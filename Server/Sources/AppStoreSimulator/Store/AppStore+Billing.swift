import Foundation

extension AppStore {
    /// Moves the clock to the due time of a subscription, so that its renewal succeeds or fails.
    /// - Throws: `unknown_subscription`, `wrong_state` if it will never fall due, and the errors of moving the clock.
    @discardableResult
    public mutating func letFallDue(_ originalTransactionID: String) throws(StoreError) -> StoreSubscription {
        let subscription = try subscription(originalTransactionID)
        guard let dueDate = subscription.dueDate else {
            throw StoreError(.wrongState, "The subscription is \(subscription.status.rawValue); nothing falls due.")
        }
        try moveClock(to: max(now, dueDate))
        return try self.subscription(originalTransactionID)
    }

    /// Sets whether the next attempts to collect the price succeed. If a subscription is waiting for its payment and it
    /// now succeeds, the subscription is renewed at once: within the grace period from the end of the last period,
    /// later from now.
    /// - Throws: `unknown_subscription`, `wrong_state`.
    @discardableResult
    public mutating func setBilling(
        works: Bool, for originalTransactionID: String
    ) throws(StoreError) -> StoreSubscription {
        var subscription = try subscription(originalTransactionID)
        try refuseFollower(subscription)
        subscription.billingFails = !works
        store(subscription)
        guard works, subscription.status == .gracePeriod || subscription.status == .billingRetry else {
            return subscription
        }
        let product = try product(subscription.autoRenewProductID, of: subscription.bundleID)
        guard let terms = product.subscription, product.isForSale else {
            throw StoreError(.notForSale, "The product '\(product.productID)' is not for sale.")
        }
        let start = subscription.status == .gracePeriod ? subscription.expiresDate : now
        renew(&subscription, product, terms, from: start, recovers: true)
        return subscription
    }

    /// Stops the renewal at the end of the period, or turns it on again.
    /// - Throws: `unknown_subscription`, `wrong_state` if it has ended.
    @discardableResult
    public mutating func setAutoRenewal(
        _ isOn: Bool, for originalTransactionID: String
    ) throws(StoreError) -> StoreSubscription {
        var subscription = try subscription(originalTransactionID)
        try refuseFollower(subscription)
        guard subscription.status != .expired, subscription.status != .revoked else {
            throw StoreError(.wrongState, "The subscription is \(subscription.status.rawValue).")
        }
        guard subscription.autoRenews != isOn else { return subscription }
        subscription.autoRenews = isOn
        store(subscription)
        record(
            .autoRenewalChanged, "\(subscription.productID) will \(isOn ? "" : "not ")be renewed",
            state.transactions[subscription.transactionID], subscription,
            notify: ("DID_CHANGE_RENEWAL_STATUS", isOn ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED"))
        return subscription
    }

    /// Extends the present period of a paid subscription, also for family members, as compensation for an outage.
    /// - Parameter days: 1 to 90.
    /// - Throws: `unknown_subscription`, `wrong_state`, `invalid_value`.
    @discardableResult
    public mutating func extendRenewal(
        of originalTransactionID: String, days: Int
    ) throws(StoreError) -> StoreSubscription {
        let subscription = try subscription(originalTransactionID)
        try refuseFollower(subscription)
        guard subscription.status == .active else {
            throw StoreError(.wrongState, "The subscription is \(subscription.status.rawValue), not active.")
        }
        guard (1...90).contains(days) else {
            throw StoreError(.invalidValue, "A subscription is extended by 1 to 90 days, not \(days).")
        }
        for extended in [subscription] + followers(of: subscription).filter({ $0.status == .active }) {
            extend(extended, until: subscription.expiresDate.addingTimeInterval(Double(days) * 86_400))
        }
        return try self.subscription(originalTransactionID)
    }

    mutating func extend(_ subscription: StoreSubscription, until expiresDate: Date) {
        var subscription = subscription
        subscription.expiresDate = expiresDate
        store(subscription)
        for transaction in periodTransactions(of: subscription) {
            for copy in copies(of: transaction.transactionID) { state.transactions[copy]?.expiresDate = expiresDate }
        }
        record(
            .renewalExtended,
            "\(subscription.productID) of \(subscription.customerID) lasts until \(expiresDate.internet)",
            state.transactions[subscription.transactionID], subscription, notify: ("RENEWAL_EXTENDED", nil))
    }

    /// Changes the price of a product. Existing subscribers pay a lower price from the next period on. The same holds
    /// for a higher price, unless it needs the customer's consent: then the subscription ends with its period unless
    /// the customer agrees.
    /// - Parameter price: in thousandths of the currency.
    /// - Throws: `unknown_product`, `invalid_value`.
    @discardableResult
    public mutating func changePrice(
        of productID: String, of bundleID: String, to price: Int64, needsConsent: Bool
    ) throws(StoreError) -> StoreProduct {
        var product = try product(productID, of: bundleID)
        guard (0...1_000_000_000).contains(price) else {
            throw StoreError(.invalidValue, "A price is 0 to 1000000000 thousandths, not \(price).")
        }
        product.price = price
        state.products[StoreState.key(bundleID, productID)] = product
        for var subscription in state.subscriptions.sorted
        where subscription.bundleID == bundleID && subscription.autoRenewProductID == productID
            && subscription.sharedFrom == nil && subscription.status != .expired && subscription.status != .revoked
        {
            let rises = price > subscription.renewalPrice
            subscription.priceIncrease = nil
            if rises, needsConsent {
                subscription.priceIncrease = StoreSubscription.PriceIncrease(price: price, isAccepted: false)
            } else {
                subscription.renewalPrice = price
            }
            store(subscription)
            guard rises else { continue }
            record(
                needsConsent ? .priceIncreaseAsked : .priceIncreaseAccepted,
                "\(subscription.customerID) \(needsConsent ? "is asked to agree to" : "will pay") \(price) for \(productID)",
                state.transactions[subscription.transactionID], subscription,
                notify: ("PRICE_INCREASE", needsConsent ? "PENDING" : "ACCEPTED"))
        }
        return product
    }

    /// Agrees to a higher price.
    /// - Throws: `unknown_subscription`, `wrong_state` if no consent is pending.
    @discardableResult
    public mutating func acceptPrice(of originalTransactionID: String) throws(StoreError) -> StoreSubscription {
        var subscription = try subscription(originalTransactionID)
        guard subscription.priceIncrease?.isAccepted == false else {
            throw StoreError(.wrongState, "No price increase is waiting for consent.")
        }
        subscription.priceIncrease?.isAccepted = true
        store(subscription)
        record(
            .priceIncreaseAccepted,
            "\(subscription.customerID) agrees to the price of \(subscription.autoRenewProductID)",
            state.transactions[subscription.transactionID], subscription, notify: ("PRICE_INCREASE", "ACCEPTED"))
        return subscription
    }

    func refuseFollower(_ subscription: StoreSubscription) throws(StoreError) {
        guard subscription.sharedFrom == nil else {
            throw StoreError(.wrongState, "The subscription is shared; only the original subscription can be changed.")
        }
    }
}
