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
                of: subscription, notify: ("GRACE_PERIOD_EXPIRED", nil))
            followSuit(subscription, .gracePeriodExpired, notify: ("GRACE_PERIOD_EXPIRED", nil))
        case .billingRetry: expire(&subscription, intent: 2, subtype: "BILLING_RETRY", "its payment failed for 60 days")
        case .expired, .revoked: break
        }
        return state.subscriptions[originalTransactionID]
    }

    /// Tries to renew a subscription whose period has ended.
    private mutating func renewOrLapse(_ subscription: inout StoreSubscription) {
        guard subscription.autoRenews else {
            return expire(&subscription, intent: 1, subtype: "VOLUNTARY", "the customer cancelled it")
        }
        if subscription.renewalRate != nil, subscription.renewals ?? 0 >= SandboxRenewalRate.renewals {
            return expire(
                &subscription, intent: 1, subtype: "VOLUNTARY",
                "the sandbox renews it \(SandboxRenewalRate.renewals) times")
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

    private mutating func failBilling(_ subscription: inout StoreSubscription) {
        subscription.expirationIntent = 2
        subscription.gracePeriodExpiresDate = gracePeriodEnd(of: subscription)
        let hasGrace = subscription.gracePeriodExpiresDate != nil
        subscription.status = hasGrace ? .gracePeriod : .billingRetry
        store(subscription)
        let notification = ("DID_FAIL_TO_RENEW", hasGrace ? "GRACE_PERIOD" : nil)
        record(
            .billingFailed, "the payment of \(subscription.productID) failed",
            of: subscription, notify: notification)
        followSuit(subscription, .billingFailed, notify: notification)
    }

    /// The end of the grace period after the present period; nil if the app has none.
    func gracePeriodEnd(of subscription: StoreSubscription) -> Date? {
        let days = state.apps[subscription.bundleID]?.gracePeriodDays ?? 0
        return days > 0 ? subscription.expiresDate + subscription.renewalRate.seconds(days: days) : nil
    }

    /// Collects the price and begins a period.
    /// - Parameter recovers: whether earlier attempts failed.
    mutating func renew(
        _ subscription: inout StoreSubscription, _ product: StoreProduct, _ terms: StoreProduct.Terms, from start: Date,
        recovers: Bool
    ) {
        guard let previous = state.transactions[subscription.transactionID] else { return }
        if subscription.renewalRate != nil { subscription.renewals = (subscription.renewals ?? 0) + 1 }
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
        from start: Date, reason: StoreTransaction.Reason, follows previous: StoreTransaction
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
        var transaction = previous.copy(as: transactionID)
        (transaction.productID, transaction.quantity, transaction.reason) = (product.productID, seats ?? 1, reason)
        transaction.purchaseDate = start
        transaction.expiresDate = subscription.renewalRate.end(of: offer?.period ?? terms.period, from: start)
        transaction.webOrderLineItemID = nextLineItemID(previous.environment)
        transaction.offer = offer.map(StoreTransaction.Offer.init)
        transaction.price = offer?.price ?? (reason == .renewal ? subscription.renewalPrice : product.price)
        transaction.currency = product.currency
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
            .expired, "\(subscription.productID) expires: \(reason)",
            of: subscription, notify: ("EXPIRED", subtype))
        for var follower in followers(of: subscription) where follower.status != .revoked && follower.status != .expired
        {
            follower.status = .expired
            follower.expirationIntent = intent
            store(follower)
            record(
                .expired, "\(follower.productID) expires, because the subscription that it is shared from expired",
                of: follower, notify: ("EXPIRED", subtype))
        }
    }

    mutating func store(_ subscription: StoreSubscription) {
        state.subscriptions[subscription.originalTransactionID] = subscription
    }
}

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
            of: subscription, notify: ("DID_CHANGE_RENEWAL_STATUS", isOn ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED")
        )
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
        try require((1...90).contains(days), .invalidValue, "A subscription is extended by 1 to 90 days, not \(days).")
        for extended in [subscription] + followers(of: subscription).filter({ $0.status == .active }) {
            extend(extended, until: subscription.expiresDate + subscription.renewalRate.seconds(days: days))
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
            of: subscription, notify: ("RENEWAL_EXTENDED", nil))
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
        try require(
            (0...1_000_000_000).contains(price), .invalidValue, "A price is 0 to 1000000000 thousandths, not \(price).")
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
                of: subscription, notify: ("PRICE_INCREASE", needsConsent ? "PENDING" : "ACCEPTED"))
        }
        return product
    }

    /// Agrees to a higher price.
    /// - Throws: `unknown_subscription`, `wrong_state` if no consent is pending.
    @discardableResult
    public mutating func acceptPrice(of originalTransactionID: String) throws(StoreError) -> StoreSubscription {
        var subscription = try subscription(originalTransactionID)
        try require(
            subscription.priceIncrease?.isAccepted == false, .wrongState, "No price increase is waiting for consent.")
        subscription.priceIncrease?.isAccepted = true
        store(subscription)
        record(
            .priceIncreaseAccepted,
            "\(subscription.customerID) agrees to the price of \(subscription.autoRenewProductID)",
            of: subscription, notify: ("PRICE_INCREASE", "ACCEPTED"))
        return subscription
    }

    func refuseFollower(_ subscription: StoreSubscription) throws(StoreError) {
        guard subscription.sharedFrom == nil else {
            throw StoreError(.wrongState, "The subscription is shared; only the original subscription can be changed.")
        }
    }
}

extension AppStore {
    /// Whether the developer can extend a subscription for its customer.
    enum Extensibility: Sendable {
        case extensible
        /// It is not active, was never paid for, or is in a free period.
        case ineligible
        /// It was extended twice within a year.
        case exhausted
    }

    /// Apple extends twice within this time.
    private static let extensionYear: TimeInterval = 365 * 86_400

    /// Apple, "Extend a Subscription Renewal Date": only active subscriptions with a paid period, outside of free
    /// offers, twice in 365 days for each customer.
    func extensibility(of subscription: StoreSubscription) -> Extensibility {
        guard subscription.status == .active, subscription.sharedFrom == nil,
            let period = state.transactions[subscription.transactionID], !period.isTrialPeriod,
            state.transactions.rows(ofGroup: subscription.owner).contains(where: {
                $0.originalTransactionID == subscription.originalTransactionID && $0.price > 0
            })
        else { return .ineligible }
        let recent = state.subscriptions.rows(ofGroup: subscription.owner)
            .flatMap { $0.extensions ?? [] }
            .filter { $0 > now.addingTimeInterval(-Self.extensionYear) }
        return recent.count < 2 ? .extensible : .exhausted
    }

    /// Extends the present period, and counts the extension for the customer.
    /// - Throws: `unknown_subscription`, `wrong_state`, `invalid_value`.
    mutating func extendRenewalOfCustomer(
        _ originalTransactionID: String, days: Int
    ) throws(StoreError) -> StoreSubscription {
        var subscription = try extendRenewal(of: originalTransactionID, days: days)
        subscription.extensions = (subscription.extensions ?? []) + [now]
        store(subscription)
        return subscription
    }

    /// Gives a purchase another app account token. Past periods of a subscription keep theirs; later ones get this one.
    /// - Parameter token: a UUID in small letters.
    /// - Throws: `unknown_transaction`.
    mutating func setAccountToken(_ token: String, of originalTransactionID: String) throws(StoreError) {
        let original = try transaction(originalTransactionID)
        let subscription = state.subscriptions[originalTransactionID]
        let present = subscription.map { periodTransactions(of: $0) } ?? [original]
        for transaction in present {
            for copy in copies(of: transaction.transactionID) { state.transactions[copy]?.appAccountToken = token }
        }
        let shown = state.transactions[subscription?.transactionID ?? originalTransactionID]
        record(
            .accountTokenSet, "\(original.productID) of \(original.customerID) has the app account token \(token)",
            shown, subscription)
    }
}
