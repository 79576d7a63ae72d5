import AppStoreConnection
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// `GET /v1/apple-orders/{id}`: the purchases of the order number in a customer's mail from Apple.
struct AppleOrderRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("apple-orders/:id") { _, context in
            let app = try context.requireCaller(.backend).app.id
            let id = try context.identifier("id")
            guard id.utf8.count <= AppleOrders.longestNumber else {
                throw Problem(
                    .badRequest, "field_malformed", "An order number of Apple is shorter.",
                    expected: "at most \(AppleOrders.longestNumber) bytes")
            }
            return try await find(id, app)
        }
    }

    private func find(_ id: String, _ app: String) async throws -> Response {
        switch try await AppleOrders(service: api.appStoreClaims).find(id, app: app) {
        case .transactions(let ids):
            var purchases: [RecordedPurchase] = []
            for transaction in ids {
                let query = PurchasesOfTransaction(app: app, transactionID: transaction)
                purchases += try await api.ledger.answer(query).filter { $0.environment == .production }
            }
            return try Response.json(TransactionPage(purchases: purchases.map { TransactionMessage($0) }))
        case .notConfigured:
            throw Problem(
                .conflict, "app_store_not_configured", "The app has no key of the App Store Server API.",
                expected: "app_store_keys in the settings of the app")
        case .unknown:
            throw Problem(
                .notFound, "apple_order_unknown", "Apple knows no order of the app with this number.", found: id)
        case .failed(let error): throw Problem(error)
        }
    }
}

extension Problem {
    /// The App Store Server API gave no answer that is believed.
    init(_ error: AppStoreServerError) {
        let seconds = min(max(Int(error.retryAfter / .seconds(1)), 1), 3600)
        self.init(
            .serviceUnavailable, error.code.rawValue, "The App Store gave no answer; the log says why.",
            retryAfter: seconds)
    }
}
