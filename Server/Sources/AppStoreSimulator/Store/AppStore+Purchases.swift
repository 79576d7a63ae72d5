import Foundation

extension AppStore {
    public struct PurchaseOptions: Sendable {
        /// The quantity of a consumable, or the number of seats.
        public var quantity: UInt64 = 1
        /// The app's identifier of the buyer, a UUID.
        public var appAccountToken: String?
        /// The offer for a new subscription. A new subscriber gets the introductory offer automatically.
        public var offerID: String?

        /// A purchase of one unit, without further options.
        public init(quantity: UInt64 = 1, appAccountToken: String? = nil, offerID: String? = nil) {
            (self.quantity, self.appAccountToken, self.offerID) = (quantity, appAccountToken, offerID)
        }
    }

    /// Sells a product, and refreshes the customer's receipt. A non-consumable that the customer owns already is
    /// restored; a subscription that expired in the same group continues under its old identifier; another product of
    /// the group is an upgrade or a downgrade.
    /// - Returns: the transaction; for a downgrade, which waits for the next period, the present one.
    /// - Throws: `unknown_app`, `unknown_product`, `unknown_customer`, `not_for_sale`, `invalid_value`,
    ///   `already_subscribed`, `unknown_offer`, `not_eligible`, `wrong_state`.
    @discardableResult
    public mutating func buy(
        _ productID: String, of bundleID: String, by customerID: String, options: PurchaseOptions = PurchaseOptions()
    ) throws(StoreError) -> StoreTransaction {
        let product = try product(productID, of: bundleID)
        let customer = try customer(customerID)
        try require(product.isForSale, .notForSale, "The product '\(productID)' is not for sale.")
        try Self.check(options.quantity, of: product)
        if let token = options.appAccountToken, UUID(uuidString: token) == nil {
            throw StoreError(.invalidValue, "An app account token is a UUID.")
        }
        let transaction: StoreTransaction
        if let terms = product.subscription {
            transaction = try subscribe(customer, to: product, terms, options)
        } else if product.kind == .nonConsumable, let owned = ownedTransaction(of: product, customer) {
            transaction = restoredCopy(of: owned)
            record(.restored, "\(productID) was already owned and is restored", transaction)
        } else {
            transaction = mint(product, customer, options)
            record(
                .purchased, "\(customerID) buys \(options.quantity) × \(productID)", transaction,
                notify: ("ONE_TIME_CHARGE", nil))
        }
        makeReceipt(bundleID, customer)
        return transaction
    }

    private static func check(_ quantity: UInt64, of product: StoreProduct) throws(StoreError) {
        let hasSeats = product.subscription?.invitations != nil
        let limit: UInt64 = hasSeats ? Self.maximumSeats : product.kind == .consumable ? 10 : 1
        guard (1...limit).contains(quantity) else {
            throw StoreError(
                .invalidValue,
                "The quantity is 1 to 10 for a consumable, 1 to \(Self.maximumSeats) for a product with seats, and 1 for any "
                    + "other product.")
        }
    }

    /// Records that the app delivered the purchase. A finished consumable leaves the receipt at its next refresh.
    /// - Throws: `unknown_transaction`.
    @discardableResult
    public mutating func finish(_ transactionID: String) throws(StoreError) -> StoreTransaction {
        var transaction = try transaction(transactionID)
        guard !transaction.isFinished else { return transaction }
        transaction.isFinished = true
        state.transactions[transactionID] = transaction
        record(.finished, "\(transaction.productID) is finished", transaction)
        return transaction
    }

    /// The transaction of a non-consumable that a customer has, if there is one.
    private func ownedTransaction(of product: StoreProduct, _ customer: StoreCustomer) -> StoreTransaction? {
        state.transactions.rows(ofGroup: StoreState.key(product.bundleID, customer.customerID)).first {
            $0.productID == product.productID && $0.revocation == nil && $0.restoredAs == nil
        }
    }

    /// A transaction that is its own original.
    private mutating func mint(
        _ product: StoreProduct, _ customer: StoreCustomer, _ options: PurchaseOptions
    ) -> StoreTransaction {
        let transactionID = nextTransactionID(customer.environment)
        let transaction = StoreTransaction(
            transactionID: transactionID, originalTransactionID: transactionID, bundleID: product.bundleID,
            customerID: customer.customerID, productID: product.productID, kind: product.kind,
            quantity: options.quantity, purchaseDate: now, originalPurchaseDate: now, ownership: .purchased,
            appAccountToken: options.appAccountToken?.lowercased(), reason: .purchase,
            price: product.price * Int64(options.quantity), currency: product.currency,
            environment: customer.environment)
        state.transactions[transactionID] = transaction
        return transaction
    }

    /// The next transaction id: longer in the sandbox, as Apple's are.
    mutating func nextTransactionID(_ environment: StoreEnvironment) -> String {
        state.summary.transactions += 1
        return "\(Self.offset(environment) + UInt64(state.summary.transactions))"
    }

    private static func offset(_ environment: StoreEnvironment) -> UInt64 {
        environment == .production ? productionOffset : sandboxOffset
    }

    /// Ids of production have 15 digits, those of the sandbox have 16, starting with 2.
    private static let productionOffset: UInt64 = 500_000_000_000_000
    private static let sandboxOffset: UInt64 = 2_000_000_000_000_000

    /// The position of a transaction id in the order of all transactions of the store.
    static func number(of transactionID: String) -> UInt64 {
        guard let value = UInt64(transactionID) else { return 0 }
        return value >= sandboxOffset ? value - sandboxOffset : value - min(value, productionOffset)
    }

    mutating func nextLineItemID(_ environment: StoreEnvironment) -> UInt64 {
        state.summary.lineItems += 1
        return Self.offset(environment) + UInt64(state.summary.lineItems)
    }

    /// Writes the log.
    mutating func record(
        _ kind: StoreEvent.Kind, _ summary: String, _ transaction: StoreTransaction? = nil,
        _ subscription: StoreSubscription? = nil, bundleID: String? = nil, customerID: String? = nil,
        notify: (type: String, subtype: String?)? = nil, content: (inout StoreEvent.Notification) -> Void = { _ in }
    ) {
        state.summary.events += 1
        let number = state.summary.events
        var notification = notify.map {
            StoreEvent.Notification(
                type: $0.type, subtype: $0.subtype,
                notificationUUID: UUID(derivedFrom: "notification|\(number)|\(state.summary.transactions)").uuidString
                    .lowercased())
        }
        if var stated = notification {
            content(&stated)
            notification = stated
        }
        state.events["\(number)"] = StoreEvent(
            number: number, date: now, milliseconds: milliseconds(after: number - 1), kind: kind, summary: summary,
            bundleID: bundleID ?? transaction?.bundleID ?? subscription?.bundleID,
            customerID: customerID ?? transaction?.customerID ?? subscription?.customerID,
            transaction: transaction, subscription: subscription, notification: notification)
    }

    /// Writes the log about a subscription and the transaction of its present period.
    mutating func record(
        _ kind: StoreEvent.Kind, _ summary: String, of subscription: StoreSubscription,
        notify: (type: String, subtype: String?)?
    ) {
        record(
            kind, summary, state.transactions[subscription.transactionID], subscription, notify: notify)
    }

    /// The milliseconds of the next event: one more than those of the last one, if that is of the same second.
    private func milliseconds(after last: Int) -> Int? {
        guard let event = state.events["\(last)"], event.date == now else { return nil }
        return min((event.milliseconds ?? 0) + 1, 999)
    }

    /// The time of what is signed now: not before the last event.
    var signingTime: Date {
        guard let event = state.events["\(state.summary.events)"], event.date == now else { return now }
        return event.signedAt
    }
}

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
        try require(product.isForSale, .notForSale, "The product '\(productID)' is not for sale.")
        guard let terms = product.subscription, terms.groupID == subscription.groupID, let old = current.subscription
        else {
            throw StoreError(.wrongState, "The product '\(productID)' is not in the group '\(subscription.groupID)'.")
        }
        try require(
            subscription.isUsable && subscription.sharedFrom == nil, .wrongState,
            "The subscription is \(subscription.status.rawValue), or shared by another customer.")
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
                // The quantity is the total number of seats after the purchase (StoreKit, `seats(_:)`).
                if terms.invitations != nil, let added = options.quantity.subtracting(seats(of: running)) {
                    return try addSeats(added, to: running.originalTransactionID)
                }
                throw StoreError(
                    .alreadySubscribed,
                    "'\(customer.customerID)' has '\(product.productID)' until \(running.expiresDate.internet).")
            }
            return try changeProduct(of: running.originalTransactionID, to: product.productID)
        }
        let offer = try offer(for: options.offerID, of: product, terms, isNew: earlier.isEmpty)
        let transactionID = nextTransactionID(customer.environment)
        let again = earlier.first { $0.sharedFrom == nil }
        let rate = customer.subscriptionRenewalRate
        let expiresDate = rate.end(
            of: offer?.period ?? terms.period, from: now, periods: offer?.mode == .payUpFront ? offer?.periods ?? 1 : 1)
        var transaction = StoreTransaction(
            transactionID: transactionID, originalTransactionID: again?.originalTransactionID ?? transactionID,
            bundleID: product.bundleID, customerID: customer.customerID, productID: product.productID,
            kind: product.kind, quantity: options.quantity, purchaseDate: now,
            originalPurchaseDate: again.flatMap { state.transactions[$0.originalTransactionID]?.purchaseDate } ?? now,
            expiresDate: expiresDate, webOrderLineItemID: nextLineItemID(customer.environment),
            subscriptionGroupID: terms.groupID,
            offer: offer.map(StoreTransaction.Offer.init),
            ownership: .purchased, appAccountToken: options.appAccountToken?.lowercased(), reason: .purchase,
            price: offer?.price ?? product.price, currency: product.currency, environment: customer.environment)
        transaction.seats = terms.invitations.map { StoreTransaction.Seats(invitations: $0) }
        state.transactions[transactionID] = transaction
        var subscription = StoreSubscription(
            originalTransactionID: transaction.originalTransactionID, bundleID: product.bundleID,
            customerID: customer.customerID, groupID: terms.groupID, productID: product.productID,
            transactionID: transactionID, status: .active, expiresDate: expiresDate,
            autoRenewProductID: product.productID, renewalPrice: product.price, recentStartDate: now, sharedFrom: nil)
        subscription.renewalRate = rate
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

extension UInt64 {
    /// The difference, if it is at least 1.
    fileprivate func subtracting(_ number: Int) -> UInt64? {
        let smaller = UInt64(clamping: number)
        return self > smaller ? self - smaller : nil
    }
}
