import Foundation
import HTTPTypes
import Hummingbird

/// The interface for apps: the work of StoreKit on a device. The control API is for testers, who decide the outcome of
/// payments.
struct AppRoutes {
    let service: StoreService

    func add(to router: Router<SimulatorRequestContext>) {
        addPayments(to: router)
        addQueue(to: router)
        addReceipts(to: router)
        addControl(to: router)
    }

    private func addPayments(to router: Router<SimulatorRequestContext>) {
        let issuer = service.issuer
        router.get("/app/products") { request, _ in
            let bundleID = try request.query("bundle_id")
            return try Response.json(
                await service.change { state, _ in
                    state.store.products.filter { $0.bundleID == bundleID && $0.isForSale }
                })
        }
        router.post("/app/purchases") { request, _ in
            let payment = try await request.read(Payment.self)
            return try Response.json(
                await service.change { state, _ in
                    let (sold, waiting) = try state.pay(
                        payment.productID, of: payment.bundleID, by: payment.customerID,
                        AppStore.PurchaseOptions(
                            quantity: payment.quantity ?? 1, appAccountToken: payment.appAccountToken,
                            offerID: payment.offerID))
                    return PaymentAnswer(
                        result: sold != nil ? "purchased" : waiting?.mode.rawValue ?? "cancelled",
                        paymentID: waiting?.paymentID,
                        transaction: try sold.map { try TransactionAnswer($0, &state, issuer) })
                }, status: .created)
        }
    }

    private func addQueue(to router: Router<SimulatorRequestContext>) {
        let issuer = service.issuer
        router.get("/app/queue") { request, _ in
            let (bundleID, customerID) = (try request.query("bundle_id"), try request.query("customer_id"))
            return try Response.json(
                await service.change { state, _ in
                    var transactions: [TransactionAnswer] = []
                    for transaction in state.unfinished(of: bundleID, customerID) {
                        transactions.append(try TransactionAnswer(transaction, &state, issuer))
                    }
                    return QueueAnswer(last: state.store.events.last?.number ?? 0, transactions: transactions)
                })
        }
        router.get("/app/updates") { request, _ in
            let (bundleID, customerID) = (try request.query("bundle_id"), try request.query("customer_id"))
            guard let after = Int(try request.query("after")), after >= 0 else {
                throw StoreError(.invalidValue, "'after' is the number of an event.")
            }
            return try Response.json(
                await service.change { state, _ in
                    var transactions: [TransactionAnswer] = []
                    for transaction in state.updates(of: bundleID, customerID, after: after) {
                        transactions.append(try TransactionAnswer(transaction, &state, issuer))
                    }
                    return QueueAnswer(last: state.store.events.last?.number ?? 0, transactions: transactions)
                })
        }
        router.get("/app/current") { request, _ in
            let (bundleID, customerID) = (try request.query("bundle_id"), try request.query("customer_id"))
            return try Response.json(
                await service.change { state, _ in
                    var transactions: [TransactionAnswer] = []
                    for transaction in state.current(of: bundleID, customerID) {
                        transactions.append(try TransactionAnswer(transaction, &state, issuer))
                    }
                    return QueueAnswer(last: state.store.events.last?.number ?? 0, transactions: transactions)
                })
        }
        router.get("/app/latest") { request, _ in
            let (bundleID, customerID) = (try request.query("bundle_id"), try request.query("customer_id"))
            let productID = try request.query("product_id")
            return try Response.json(
                await service.change { state, _ in
                    var transactions: [TransactionAnswer] = []
                    if let latest = state.latest(of: bundleID, customerID, productID) {
                        transactions.append(try TransactionAnswer(latest, &state, issuer))
                    }
                    return QueueAnswer(last: state.store.events.last?.number ?? 0, transactions: transactions)
                })
        }
        router.post("/app/finish") { request, _ in
            let finished = try await request.read(Finished.self)
            return try Response.json(
                await service.change { state, _ in try state.store.finish(finished.transactionID) })
        }
        router.post("/app/restore") { request, _ in
            let owner = try await request.read(Owner.self)
            return try Response.json(
                await service.change { state, _ in
                    let restored = try state.store.restore(owner.bundleID, for: owner.customerID)
                    var transactions: [TransactionAnswer] = []
                    for transaction in restored {
                        transactions.append(try TransactionAnswer(transaction, &state, issuer))
                    }
                    return QueueAnswer(last: state.store.events.last?.number ?? 0, transactions: transactions)
                })
        }
    }

    private func addReceipts(to router: Router<SimulatorRequestContext>) {
        let issuer = service.issuer
        router.get("/app/receipt") { request, _ in
            let (bundleID, customerID) = (try request.query("bundle_id"), try request.query("customer_id"))
            return try Response.json(
                await service.change { state, _ in
                    guard let receipt = state.store.state.receipts[StoreState.key(bundleID, customerID)] else {
                        throw StoreError(
                            .noReceipt, "The device has no receipt before the first purchase or refresh.")
                    }
                    return DeviceReceipt(appReceipt: try state.appReceipt(receipt, by: issuer))
                })
        }
        router.post("/app/receipt/refresh") { request, _ in
            let owner = try await request.read(Owner.self)
            return try Response.json(
                await service.change { state, _ in
                    let receipt = try state.store.refreshReceipt(of: owner.bundleID, for: owner.customerID)
                    return DeviceReceipt(appReceipt: try state.appReceipt(receipt, by: issuer))
                })
        }
        router.get("/app/device") { request, _ in
            let customerID = try request.query("customer_id")
            return try Response.json(
                await service.change { state, _ in
                    let customer = try state.store.customer(customerID)
                    return Device(deviceID: customer.deviceID, environment: customer.environment)
                })
        }
    }

    private func addControl(to router: Router<SimulatorRequestContext>) {
        let issuer = service.issuer
        router.get("/control/payments") { _, _ in
            try Response.json(await service.change { state, _ in state.payments })
        }
        router.post("/control/payments/mode") { request, _ in
            let change = try await request.read(ModeChange.self)
            return try Response.json(
                await service.change { state, _ in
                    _ = try state.store.customer(change.customerID)
                    state.payments.set(
                        change.mode ?? .normal, receiptLags: change.receiptLags ?? false, for: change.customerID)
                    return state.payments
                })
        }
        router.post("/control/payments/{id}/approve") { request, context in
            try request.requireJSON()
            let paymentID = try context.part("id")
            return try Response.json(
                await service.change { state, _ in
                    let transaction = try state.approve(paymentID)
                    return try TransactionAnswer(transaction, &state, issuer)
                })
        }
        router.post("/control/payments/{id}/decline") { request, context in
            try request.requireJSON()
            let paymentID = try context.part("id")
            return try Response.json(await service.change { state, _ in try state.payments.take(paymentID) })
        }
    }
}

extension Request {
    /// A required parameter of the query.
    func query(_ name: Substring) throws -> String {
        guard let value = uri.queryParameters[name], !value.isEmpty else {
            throw StoreError(.invalidValue, "The query needs '\(name)'.")
        }
        return String(value)
    }
}

private struct Payment: RequestBody {
    let bundleID: String
    let productID: String
    let customerID: String
    let quantity: UInt64?
    let appAccountToken: String?
    let offerID: String?

    static let members: [BodyMember] = [
        "bundle_id", "product_id", "customer_id", "quantity", "app_account_token", "offer_id",
    ]
}

private struct Finished: RequestBody {
    let transactionID: String

    static let members: [BodyMember] = ["transaction_id"]
}

private struct Owner: RequestBody {
    let bundleID: String
    let customerID: String

    static let members: [BodyMember] = ["bundle_id", "customer_id"]
}

private struct ModeChange: RequestBody {
    let customerID: String
    let mode: PaymentMode?
    let receiptLags: Bool?

    static let members: [BodyMember] = ["customer_id", "mode", "receipt_lags"]
}

private struct PaymentAnswer: Encodable {
    /// `purchased`, `ask-to-buy`, `interrupted` or `cancelled`.
    let result: String
    /// Only for a payment that waits.
    let paymentID: String?
    let transaction: TransactionAnswer?
}

private struct QueueAnswer: Encodable {
    /// The number of the last event, from which the next updates are asked for.
    let last: Int
    let transactions: [TransactionAnswer]
}

private struct DeviceReceipt: Encodable {
    let appReceipt: String
}

private struct Device: Encodable {
    let deviceID: String
    let environment: StoreEnvironment
}
