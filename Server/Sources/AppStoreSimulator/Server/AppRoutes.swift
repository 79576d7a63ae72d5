import EvidenceMint
import HTTPTypes

extension Routes {
    /// The interface for apps, which does the work of StoreKit on a device; and the control of settings.payments for
    /// testers, who decide their outcome.
    func addApps() {
        get("/app/products") { state, call in
            let bundleID = try call.query("bundle_id")
            return state.store.products.filter { $0.bundleID == bundleID && $0.isForSale }
        }
        post(
            "/app/purchases",
            ["bundle_id", "product_id", "customer_id", "quantity", "app_account_token", "offer_id"], .created
        ) { state, body, call -> Members in
            let (sold, waiting) = try state.pay(
                body.productID, of: body.bundleID, by: body.customerID, try .init(body))
            return [
                "result": sold != nil ? "purchased" : waiting?.mode.rawValue ?? "cancelled",
                "payment_id": waiting?.paymentID,
                "transaction": try sold.map { try state.answer(with: $0, by: call.issuer) },
            ]
        }
        get("/app/queue") { state, call in
            try state.queue(state.unfinished(of: call.query("bundle_id"), call.query("customer_id")), call)
        }
        get("/app/updates") { state, call in
            let (bundleID, customerID) = (try call.query("bundle_id"), try call.query("customer_id"))
            guard let after = Int(try call.query("after")), after >= 0 else {
                throw StoreError(.invalidValue, "'after' is the number of an event.")
            }
            return try state.queue(state.updates(of: bundleID, customerID, after: after), call)
        }
        get("/app/current") { state, call in
            try state.queue(state.current(of: call.query("bundle_id"), call.query("customer_id")), call)
        }
        get("/app/latest") { state, call in
            let latest = try state.latest(
                of: call.query("bundle_id"), call.query("customer_id"), call.query("product_id"))
            return try state.queue([latest].compactMap(\.self), call)
        }
        post("/app/finish", ["transaction_id"]) { state, body, _ in try state.store.finish(body.transactionID) }
        post("/app/restore", ["bundle_id", "customer_id"]) { state, body, call in
            try state.queue(state.store.restore(body.bundleID, for: body.customerID), call)
        }
        get("/app/receipt") { state, call -> Members in
            let key = StoreState.key(try call.query("bundle_id"), try call.query("customer_id"))
            guard let receipt = state.store.state.receipts[key] else {
                throw StoreError(.noReceipt, "The device has no receipt before the first purchase or refresh.")
            }
            return ["app_receipt": try state.appReceipt(receipt, by: call.issuer)]
        }
        post("/app/receipt/refresh", ["bundle_id", "customer_id"]) { state, body, call -> Members in
            let receipt = try state.store.refreshReceipt(of: body.bundleID, for: body.customerID)
            return ["app_receipt": try state.appReceipt(receipt, by: call.issuer)]
        }
        get("/app/device") { state, call -> Members in
            let customer = try state.store.customer(call.query("customer_id"))
            return ["device_id": customer.deviceID, "environment": customer.environment]
        }
        get("/control/payments") { state, _ in state.settings.payments }
        post("/control/payments/mode", ["customer_id", "mode", "receipt_lags"]) { state, body, _ in
            let customerID = try state.store.customer(body.customerID).customerID
            state.settings.payments.set(
                try body.mode ?? .normal, receiptLags: try body.receiptLags ?? false, for: customerID)
            return state.settings.payments
        }
        post("/control/payments/{id}/approve") { state, call in
            try state.answer(with: state.approve(call.id), by: call.issuer)
        }
        post("/control/payments/{id}/decline") { state, call in try state.settings.payments.take(call.id) }
    }
}

extension ServiceState {
    /// Transactions with their evidence, and the number of the last event, from which the next updates are asked for.
    fileprivate mutating func queue(_ transactions: [StoreTransaction], _ call: Routes.Call) throws -> Members {
        let last = store.events.last?.number ?? 0
        var answers: [Members] = []
        for transaction in transactions { answers.append(try answer(with: transaction, by: call.issuer)) }
        return ["last": last, "transactions": answers]
    }

    /// A transaction, its subscription, and its evidence.
    mutating func answer(
        with transaction: StoreTransaction, by issuer: EvidenceIssuer, version: TransactionReceiptVersion = .four,
        faults: EvidenceFaults? = nil
    ) throws -> Members {
        [
            "transaction": transaction,
            "subscription": store.state.subscriptions[transaction.originalTransactionID],
            "evidence": try evidence(of: transaction, by: issuer, version: version, faults: faults),
            // In the customer's mail; nil if nothing was paid.
            "order_id": transaction.orderID,
        ]
    }
}

extension AppStore.PurchaseOptions {
    init(_ body: RequestBody) throws {
        self.init(
            quantity: try body.quantity ?? 1, appAccountToken: try body.appAccountToken, offerID: try body.offerID)
    }
}
