import Foundation

extension AppStore {
    /// The options of a purchase.
    public struct PurchaseOptions: Sendable {
        /// The quantity of a consumable, or the number of seats.
        public var quantity: UInt64 = 1
        /// The app's identifier of the buyer, a UUID.
        public var appAccountToken: String?
        /// The offer for a new subscription. A new subscriber gets the introductory offer automatically.
        public var offerID: String?

        /// A purchase of one unit, without further options.
        public init(quantity: UInt64 = 1, appAccountToken: String? = nil, offerID: String? = nil) {
            self.quantity = quantity
            self.appAccountToken = appAccountToken
            self.offerID = offerID
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
        guard product.isForSale else {
            throw StoreError(.notForSale, "The product '\(productID)' is not for sale.")
        }
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
            quantity: options.quantity, purchaseDate: now, originalPurchaseDate: now, expiresDate: nil,
            webOrderLineItemID: nil, subscriptionGroupID: nil, offer: nil, ownership: .purchased,
            appAccountToken: options.appAccountToken?.lowercased(), reason: .purchase,
            price: product.price * Int64(options.quantity), currency: product.currency,
            environment: customer.environment, restoredFrom: nil)
        state.transactions[transactionID] = transaction
        return transaction
    }

    /// The next transaction id: longer in the sandbox, as Apple's are.
    mutating func nextTransactionID(_ environment: StoreEnvironment) -> String {
        state.summary.transactions += 1
        let number = UInt64(state.summary.transactions)
        return switch environment {
        case .production: "\(Self.productionOffset + number)"
        case .sandbox: "\(Self.sandboxOffset + number)"
        }
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
        let number = UInt64(state.summary.lineItems)
        return switch environment {
        case .production: Self.productionOffset + number
        case .sandbox: Self.sandboxOffset + number
        }
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
