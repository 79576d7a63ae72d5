import Foundation

/// The outcomes of customers' payments, and the payments that wait: everything between the customer's tap and the sale.
struct PendingPayments: Codable, Equatable, Sendable {
    private(set) var modes: [String: PaymentMode] = [:]
    private(set) var waiting: [WaitingPayment] = []
    /// Customers whose receipt does not change at a purchase, but only at the next refresh, as on a device where it
    /// lags behind.
    private(set) var laggingReceipts: [String] = []
    private var payments = 0

    /// The maximum number of payments that can wait at the same time.
    static let waitingLimit = 1000

    func mode(of customerID: String) -> PaymentMode { modes[customerID] ?? .normal }

    func receiptLags(of customerID: String) -> Bool { laggingReceipts.contains(customerID) }

    /// Sets the outcome of a customer's payments from now on.
    mutating func set(_ mode: PaymentMode, receiptLags: Bool, for customerID: String) {
        modes[customerID] = mode == .normal ? nil : mode
        laggingReceipts.removeAll { $0 == customerID }
        if receiptLags { laggingReceipts.append(customerID) }
    }

    mutating func wait(_ payment: WaitingPayment) throws(StoreError) -> WaitingPayment {
        try require(
            waiting.count < Self.waitingLimit, .wrongState, "\(Self.waitingLimit) payments are already waiting.")
        payments += 1
        var payment = payment
        payment.paymentID = "payment-\(payments)"
        waiting.append(payment)
        return payment
    }

    mutating func take(_ paymentID: String) throws(StoreError) -> WaitingPayment {
        guard let index = waiting.firstIndex(where: { $0.paymentID == paymentID }) else {
            throw StoreError(.unknownPayment, "No payment '\(paymentID)' is waiting.")
        }
        return waiting.remove(at: index)
    }
}

enum PaymentMode: String, Codable, CaseIterable, Sendable {
    case normal
    /// A parent must approve it.
    case askToBuy = "ask-to-buy"
    /// The customer must first confirm something outside of the app; the app sees a failed payment.
    case interrupted
    case cancelled
}

/// A payment that waits for a parent or for the customer.
struct WaitingPayment: Codable, Equatable, Sendable {
    var paymentID = ""
    let mode: PaymentMode
    let bundleID: String
    let customerID: String
    let productID: String
    let quantity: UInt64
    let appAccountToken: String?
    let offerID: String?
}

extension ServiceState {
    /// Lets an app ask a customer to pay, according to the customer's mode.
    /// - Returns: the transaction, or the payment that waits; neither if the customer cancelled.
    mutating func pay(
        _ productID: String, of bundleID: String, by customerID: String, _ options: AppStore.PurchaseOptions
    ) throws(StoreError) -> (sold: StoreTransaction?, waiting: WaitingPayment?) {
        let mode = settings.payments.mode(of: customerID)
        switch mode {
        case .normal: return (try sell(productID, of: bundleID, to: customerID, options), nil)
        case .cancelled: return (nil, nil)
        case .askToBuy, .interrupted:
            _ = try store.product(productID, of: bundleID)
            _ = try store.customer(customerID)
            let payment = WaitingPayment(
                mode: mode, bundleID: bundleID, customerID: customerID, productID: productID,
                quantity: options.quantity, appAccountToken: options.appAccountToken, offerID: options.offerID)
            return (nil, try settings.payments.wait(payment))
        }
    }

    /// Completes a payment that waits: its transaction arrives at the app as an update.
    mutating func approve(_ paymentID: String) throws(StoreError) -> StoreTransaction {
        let payment = try settings.payments.take(paymentID)
        return try sell(
            payment.productID, of: payment.bundleID, to: payment.customerID,
            AppStore.PurchaseOptions(
                quantity: payment.quantity, appAccountToken: payment.appAccountToken, offerID: payment.offerID))
    }

    /// Sells, and leaves the receipt on the device as it was if it lags behind.
    private mutating func sell(
        _ productID: String, of bundleID: String, to customerID: String, _ options: AppStore.PurchaseOptions
    ) throws(StoreError) -> StoreTransaction {
        let key = StoreState.key(bundleID, customerID)
        let before = store.state.receipts[key]
        let transaction = try store.buy(productID, of: bundleID, by: customerID, options: options)
        if settings.payments.receiptLags(of: customerID) { store.state.receipts[key] = before }
        return transaction
    }

    /// The transactions of a customer that the app has not finished, oldest first. A restored copy and its source count
    /// as one.
    func unfinished(of bundleID: String, _ customerID: String) -> [StoreTransaction] {
        store.transactions.filter {
            $0.bundleID == bundleID && $0.customerID == customerID && !$0.isFinished && $0.restoredAs == nil
        }
    }

    /// The transactions that entitle a customer now: purchases that do not end and are not revoked, and the newest
    /// period of each subscription that is paid or in its grace period.
    func current(of bundleID: String, _ customerID: String) -> [StoreTransaction] {
        let all = store.currentTransactions(of: bundleID, customerID).filter {
            $0.kind != .consumable && $0.revocation == nil && $0.upgradeDate == nil
        }
        return all.filter { transaction in
            guard transaction.kind == .autoRenewable else { return true }
            let status = store.state.subscriptions[transaction.originalTransactionID]?.status
            let periods = all.filter { $0.originalTransactionID == transaction.originalTransactionID }
            let newest = periods.max { $0.expiresDate ?? .distantPast < $1.expiresDate ?? .distantPast }
            return (status == .active || status == .gracePeriod)
                && newest?.transactionID == transaction.transactionID
        }
    }

    /// A customer's newest transaction of a product, also a refunded or revoked one; of consumables only one that is
    /// not finished or was refunded.
    func latest(of bundleID: String, _ customerID: String, _ productID: String) -> StoreTransaction? {
        let all = store.transactions.filter {
            $0.bundleID == bundleID && $0.customerID == customerID && $0.productID == productID
                && $0.restoredAs == nil && ($0.kind != .consumable || !$0.isFinished || $0.revocation != nil)
        }
        return all.max { $0.purchaseDate < $1.purchaseDate }
    }

    /// The transactions of a customer that changed after an event, each once, in the order of their last change.
    func updates(of bundleID: String, _ customerID: String, after number: Int) -> [StoreTransaction] {
        var ids: [String] = []
        for event in store.events where event.number > number && event.kind != .finished {
            guard let transaction = event.transaction, transaction.bundleID == bundleID,
                transaction.customerID == customerID
            else { continue }
            ids.removeAll { $0 == transaction.transactionID }
            ids.append(transaction.transactionID)
        }
        return ids.compactMap { store.state.transactions[$0] }
    }
}
