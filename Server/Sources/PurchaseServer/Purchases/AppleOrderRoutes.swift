import AppStoreConnection
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// `GET /v1/apple-orders/{id}`: the purchases of the order number in a customer's mail from Apple.
struct AppleOrderRoutes {
    let api: PurchaseAPIContext

    /// The longest order number that is sent to Apple, in bytes: Apple's have about ten characters.
    private static let orderBytes = 64

    func add(to group: RouterGroup<ServerContext>) {
        group.get("apple-orders/:id") { _, context in
            let app = try context.requireCaller(.backend).app.id
            let id = try context.identifier("id")
            guard id.utf8.count <= Self.orderBytes else {
                throw Problem(
                    .badRequest, "field_malformed", "An order number of Apple is shorter.",
                    expected: "at most \(Self.orderBytes) bytes")
            }
            return try await find(id, app)
        }
    }

    private func find(_ id: String, _ app: String) async throws -> Response {
        let service = api.appStoreClaims
        let terms = service.currentTerms()
        let apps = (terms.bundleIDs[app] ?? []).compactMap { terms.serverApps[$0] }
        guard !apps.isEmpty else {
            throw Problem(
                .conflict, "app_store_not_configured", "The app has no key of the App Store Server API.",
                expected: "app_store_keys in the settings of the app")
        }
        for serverApp in apps {
            let transactions: [TransactionJWS]?
            do throws(AppStoreServerError) {
                transactions = try await service.server.call(LookUpOrder(id), for: serverApp).value
            } catch {
                // Apple's number for an order id that is malformed.
                if error.isFinal { continue }
                throw Problem(error)
            }
            guard let transactions, !transactions.isEmpty else { continue }
            // What Apple signed counts, whoever asked for it.
            try await service.evidence.observe(transactions.map(\.text), app: app)
            var purchases: [RecordedPurchase] = []
            for transaction in transactions {
                let query = PurchasesOfTransaction(app: app, transactionID: transaction.content.transactionID)
                purchases += try await api.ledger.answer(query).filter { $0.environment == .production }
            }
            return try Response.json(TransactionPage(purchases: purchases.map { TransactionMessage($0) }))
        }
        throw Problem(
            .notFound, "apple_order_unknown", "Apple knows no order of the app with this number.", found: id)
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
