import Foundation
import HTTPTypes
import Hummingbird

/// The interface for apps: the work of StoreKit on a device. The control API is for testers, who decide the outcome of
/// payments.
struct AppRoutes {
    let service: StoreService

    func add(to router: Router<SimulatorRequestContext>) {
        let routes = StateRoutes(router: router, service: service)
        addPayments(to: routes)
        addQueue(to: routes)
        addReceipts(to: routes)
        addControl(to: routes)
    }

    private func addPayments(to routes: StateRoutes) {
        routes.get("/app/products") { state, call in
            let bundleID = try call.query("bundle_id")
            return state.store.products.filter { $0.bundleID == bundleID && $0.isForSale }
        }
        routes.post("/app/purchases", Payment.self, .created) { state, payment, call in
            let (sold, waiting) = try state.pay(
                payment.productID, of: payment.bundleID, by: payment.customerID,
                AppStore.PurchaseOptions(
                    quantity: payment.quantity ?? 1, appAccountToken: payment.appAccountToken,
                    offerID: payment.offerID))
            return PaymentAnswer(
                result: sold != nil ? "purchased" : waiting?.mode.rawValue ?? "cancelled",
                paymentID: waiting?.paymentID,
                transaction: try sold.map { try TransactionAnswer($0, &state, call.issuer) })
        }
    }

    private func addQueue(to routes: StateRoutes) {
        routes.get("/app/queue") { state, call in
            let (bundleID, customerID) = (try call.query("bundle_id"), try call.query("customer_id"))
            return try QueueAnswer(state.unfinished(of: bundleID, customerID), &state, call)
        }
        routes.get("/app/updates") { state, call in
            let (bundleID, customerID) = (try call.query("bundle_id"), try call.query("customer_id"))
            guard let after = Int(try call.query("after")), after >= 0 else {
                throw StoreError(.invalidValue, "'after' is the number of an event.")
            }
            return try QueueAnswer(state.updates(of: bundleID, customerID, after: after), &state, call)
        }
        routes.get("/app/current") { state, call in
            let (bundleID, customerID) = (try call.query("bundle_id"), try call.query("customer_id"))
            return try QueueAnswer(state.current(of: bundleID, customerID), &state, call)
        }
        routes.get("/app/latest") { state, call in
            let (bundleID, customerID) = (try call.query("bundle_id"), try call.query("customer_id"))
            let latest = state.latest(of: bundleID, customerID, try call.query("product_id"))
            return try QueueAnswer([latest].compactMap(\.self), &state, call)
        }
        routes.post("/app/finish", Finished.self) { state, finished, _ in
            try state.store.finish(finished.transactionID)
        }
        routes.post("/app/restore", Owner.self) { state, owner, call in
            try QueueAnswer(try state.store.restore(owner.bundleID, for: owner.customerID), &state, call)
        }
    }

    private func addReceipts(to routes: StateRoutes) {
        routes.get("/app/receipt") { state, call in
            let (bundleID, customerID) = (try call.query("bundle_id"), try call.query("customer_id"))
            guard let receipt = state.store.state.receipts[StoreState.key(bundleID, customerID)] else {
                throw StoreError(.noReceipt, "The device has no receipt before the first purchase or refresh.")
            }
            return DeviceReceipt(appReceipt: try state.appReceipt(receipt, by: call.issuer))
        }
        routes.post("/app/receipt/refresh", Owner.self) { state, owner, call in
            let receipt = try state.store.refreshReceipt(of: owner.bundleID, for: owner.customerID)
            return DeviceReceipt(appReceipt: try state.appReceipt(receipt, by: call.issuer))
        }
        routes.get("/app/device") { state, call in
            let customer = try state.store.customer(try call.query("customer_id"))
            return Device(deviceID: customer.deviceID, environment: customer.environment)
        }
    }

    private func addControl(to routes: StateRoutes) {
        routes.get("/control/payments") { state, _ in state.payments }
        routes.post("/control/payments/mode", ModeChange.self) { state, change, _ in
            _ = try state.store.customer(change.customerID)
            state.payments.set(change.mode ?? .normal, receiptLags: change.receiptLags ?? false, for: change.customerID)
            return state.payments
        }
        routes.change("/control/payments/{id}/approve") { state, call in
            try TransactionAnswer(try state.approve(call.id), &state, call.issuer)
        }
        routes.change("/control/payments/{id}/decline") { state, call in try state.payments.take(call.id) }
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

    init(_ transactions: [StoreTransaction], _ state: inout ServiceState, _ call: StateRoutes.Call) throws {
        last = state.store.events.last?.number ?? 0
        var answers: [TransactionAnswer] = []
        for transaction in transactions { answers.append(try TransactionAnswer(transaction, &state, call.issuer)) }
        self.transactions = answers
    }
}

private struct DeviceReceipt: Encodable {
    let appReceipt: String
}

private struct Device: Encodable {
    let deviceID: String
    let environment: StoreEnvironment
}
