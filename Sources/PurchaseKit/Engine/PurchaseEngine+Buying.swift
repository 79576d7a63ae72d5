import Foundation

extension PurchaseEngine {
    /// Asks the customer to pay, and handles the transaction.
    ///
    /// The purchase is stored before the queue is asked, so that customer and order are known when the transaction arrives: at once,
    /// after an approval days later, or in another run of the app.
    ///
    /// - Parameters:
    ///   - productID: the product.
    ///   - quantity: the quantity; more than 1 only for consumables.
    ///   - order: the order that it pays, if the backend made one.
    /// - Returns: the outcome; `pending` if the transaction comes later.
    @discardableResult
    public func buy(_ productID: String, quantity: Int = 1, order: PurchaseOrder? = nil) async -> PurchaseOutcome {
        guard !productID.isEmpty else { return .failed(PurchaseError(.fieldMissing, expected: "product_id")) }
        // Checked before the customer pays: a purchase that the server refuses to read could never be granted.
        if let order, order.orderID.isEmpty { return .failed(PurchaseError(.fieldMissing, expected: "order_id")) }
        guard server == nil || customer != nil else { return .failed(PurchaseError(.customerUnknown)) }
        let token = order?.appAccountToken ?? customer?.appAccountToken
        let customerID = customer?.id ?? ""
        let started = StartedPurchase(
            productID: productID, customerID: customerID, orderID: order?.orderID, appAccountToken: token,
            startedAt: time.now)
        do {
            try change { record in
                record.started = record.started.suffix(PurchaseRecord.startedLimit - 1) + [started]
                if let token, !customerID.isEmpty { record.customers[token] = customerID }
            }
        } catch {
            return .failed(PurchaseError(.storeFailed, error))
        }
        startedInThisRun.append(started)
        do {
            let payment = PaymentRequest(productID: productID, quantity: quantity, appAccountToken: token)
            switch try await queue.buy(payment) {
            case .purchased(let transaction): return await handle(transaction, started: started)
            case .pending:
                emit(PurchaseEvent(.pending, productID: productID))
                return .pending
            case .queued: return .pending
            case .cancelled:
                let error = PurchaseError(.paymentFailed, found: "cancelled by the customer")
                emit(PurchaseEvent(.failed, productID: productID, error: error))
                return .failed(error)
            }
        } catch {
            // The order stays: an interrupted purchase can still arrive.
            let error = PurchaseError(.paymentFailed, error)
            emit(PurchaseEvent(.failed, productID: productID, error: error))
            return .failed(error)
        }
    }

    /// Handles a transaction in any state, from `updates` or received by the app itself.
    @discardableResult
    public func handle(_ transaction: PaymentTransaction) async -> PurchaseOutcome {
        await handle(transaction, started: nil)
    }

    /// Handles a transaction and calls a closure with the outcome, for apps without concurrency.
    public nonisolated func verify(
        _ transaction: PaymentTransaction, completion: @escaping @Sendable (PurchaseOutcome) -> Void
    ) {
        Task { completion(await self.handle(transaction)) }
    }

    func handle(_ transaction: PaymentTransaction, started: StartedPurchase?) async -> PurchaseOutcome {
        switch transaction.state {
        case .purchasing: return .pending
        case .deferred:
            emit(PurchaseEvent(.pending, transaction))
            return .pending
        case .failed: return await fail(transaction)
        case .purchased, .restored: break
        }
        guard let key = transaction.key, !key.transactionID.isEmpty, !transaction.productID.isEmpty else {
            return .undetermined(PurchaseError(.fieldMissing, expected: "transaction_id and product_id"))
        }
        // The same transaction can arrive from the purchase, from `updates` and from a repetition at the same time.
        while let running = handling[key.transactionID] {
            let outcome = await running.value
            if settled[TransactionVersion(transaction, key)] != nil { return outcome }
            if handling[key.transactionID] == running { handling[key.transactionID] = nil }
            // A transaction that could not be finished a moment ago is not tried again at once.
            if case .undetermined = outcome, record.entry(key)?.transaction == transaction { return outcome }
        }
        let task = Task { await self.settle(transaction, key, started) }
        handling[key.transactionID] = task
        let outcome = await task.value
        if handling[key.transactionID] == task { handling[key.transactionID] = nil }
        return outcome
    }

    /// A failed payment leaves the queue. Its order stays, because an interrupted purchase arrives as another transaction.
    private func fail(_ transaction: PaymentTransaction) async -> PurchaseOutcome {
        let error = transaction.failure ?? PurchaseError(.paymentFailed)
        do {
            try await queue.finish(transaction)
        } catch {
            emit(PurchaseEvent(.failedOutside, transaction, error: PurchaseError(.queueFailed, error)))
        }
        emit(PurchaseEvent(.failed, transaction, error: error))
        await tellDelegate(transaction, .failed(error))
        return .failed(error)
    }
}
