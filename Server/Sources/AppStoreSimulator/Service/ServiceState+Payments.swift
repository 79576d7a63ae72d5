import Foundation

extension ServiceState {
    /// Lets an app ask a customer to pay, according to the customer's mode.
    /// - Returns: the transaction, or the payment that waits; neither if the customer cancelled.
    mutating func pay(
        _ productID: String, of bundleID: String, by customerID: String, _ options: AppStore.PurchaseOptions
    ) throws(StoreError) -> (sold: StoreTransaction?, waiting: WaitingPayment?) {
        let mode = payments.mode(of: customerID)
        switch mode {
        case .normal: return (try sell(productID, of: bundleID, to: customerID, options), nil)
        case .cancelled: return (nil, nil)
        case .askToBuy, .interrupted:
            _ = try store.product(productID, of: bundleID)
            _ = try store.customer(customerID)
            let payment = WaitingPayment(
                mode: mode, bundleID: bundleID, customerID: customerID, productID: productID,
                quantity: options.quantity, appAccountToken: options.appAccountToken)
            return (nil, try payments.wait(payment))
        }
    }

    /// Completes a payment that waits: its transaction arrives at the app as an update.
    mutating func approve(_ paymentID: String) throws(StoreError) -> StoreTransaction {
        let payment = try payments.take(paymentID)
        return try sell(
            payment.productID, of: payment.bundleID, to: payment.customerID,
            AppStore.PurchaseOptions(quantity: payment.quantity, appAccountToken: payment.appAccountToken))
    }

    /// Sells, and leaves the receipt on the device as it was if it lags behind.
    private mutating func sell(
        _ productID: String, of bundleID: String, to customerID: String, _ options: AppStore.PurchaseOptions
    ) throws(StoreError) -> StoreTransaction {
        let key = StoreState.key(bundleID, customerID)
        let before = store.state.receipts[key]
        let transaction = try store.buy(productID, of: bundleID, by: customerID, options: options)
        if payments.receiptLags(of: customerID) { store.state.receipts[key] = before }
        return transaction
    }

    /// The transactions of a customer that the app has not finished, oldest first. A restored copy and its source count as one.
    func unfinished(of bundleID: String, _ customerID: String) -> [StoreTransaction] {
        store.transactions.filter {
            $0.bundleID == bundleID && $0.customerID == customerID && !$0.isFinished && $0.restoredAs == nil
        }
    }

    /// What StoreKit lists as the customer's now, each with its newest transaction: products that do not end, and subscriptions that
    /// are paid or in a grace period. Nothing is restored.
    func entitlements(of bundleID: String, _ customerID: String) -> [StoreTransaction] {
        var newest: [String: StoreTransaction] = [:]
        for transaction in store.transactions {
            guard transaction.bundleID == bundleID, transaction.customerID == customerID,
                transaction.kind != .consumable, transaction.restoredFrom == nil, transaction.revocation == nil,
                transaction.upgradeDate == nil
            else { continue }
            let id = transaction.originalTransactionID
            if let other = newest[id], other.purchaseDate > transaction.purchaseDate { continue }
            newest[id] = transaction
        }
        return newest.values.filter { isActive($0) }.sorted { $0.transactionID < $1.transactionID }
    }

    private func isActive(_ transaction: StoreTransaction) -> Bool {
        guard let end = transaction.expiresDate else { return true }
        let grace = store.state.subscriptions[transaction.originalTransactionID]?.gracePeriodExpiresDate
        return max(end, grace ?? end) > store.now
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
