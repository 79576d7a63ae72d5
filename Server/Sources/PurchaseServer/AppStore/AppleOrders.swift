import AppStoreConnection
import PurchaseLedger
import PurchaseVerification

/// Asks Apple for the purchases of the order number in a customer's mail, and records what Apple signed.
struct AppleOrders {
    let service: AppStoreClaimService

    /// The longest order number that is sent to Apple, in bytes: Apple's have about ten characters.
    static let longestNumber = 64

    /// What Apple knows.
    enum Answer {
        /// The ids of the transactions, which are recorded now.
        case transactions([String])
        /// Apple knows no order of the app with this number.
        case unknown
        /// The app has no key of the App Store Server API.
        case notConfigured
        /// Apple gave no answer that is believed.
        case failed(AppStoreServerError)
    }

    /// Asks for each bundle id of an app.
    func find(_ number: String, app: String) async throws -> Answer {
        let terms = service.access.terms
        let apps = (terms.bundleIDs[app] ?? []).compactMap { terms.serverApps[$0] }
        guard !apps.isEmpty else { return .notConfigured }
        var failure: AppStoreServerError?
        for serverApp in apps {
            let transactions: [TransactionJWS]?
            do throws(AppStoreServerError) {
                transactions = try await service.access.server.call(LookUpOrder(number), for: serverApp).value
            } catch {
                // Apple's number for an order id that is malformed.
                if !error.isFinal { failure = error }
                continue
            }
            guard let transactions, !transactions.isEmpty else { continue }
            // What Apple signed counts, whoever asked for it.
            try await service.evidence.observe(transactions.map(\.text), app: app)
            return .transactions(transactions.map(\.content.transactionID))
        }
        return failure.map { .failed($0) } ?? .unknown
    }
}
