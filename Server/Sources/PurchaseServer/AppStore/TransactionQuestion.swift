package import AppStoreConnection
package import PurchaseLedger
package import PurchaseVerification

/// A question to the App Store Server API about a signed transaction.
package struct TransactionQuestion: Sendable {
    /// What the evidence proves.
    package let transaction: SignedTransaction
    package let app: AppStoreServerApp
    package let environment: ValidationEnvironment

    /// - Parameters:
    ///   - transaction: the evidence.
    ///   - apps: the apps with keys, by bundle id.
    /// - Returns: `nil` for a transaction of Xcode, and for one of an app without a key.
    package init?(_ transaction: SignedTransaction, _ apps: [String: AppStoreServerApp]) {
        guard let environment = ValidationEnvironment(transaction.environment),
            let app = transaction.bundleID.flatMap({ apps[$0] })
        else { return nil }
        (self.transaction, self.app, self.environment) = (transaction, app, environment)
    }
}

extension AppStoreAnswer {
    /// The App Store's answer about a signed transaction. The answer is signed, so it is evidence: what it says of
    /// revocations, ends and tokens is observed, and decides the claim with everything else.
    package init(_ answer: AppStoreServerAnswer<TransactionJWS>, _ proven: SignedTransaction) {
        let replied = answer.value.content
        func rejection(_ path: String, _ expected: String?, _ found: String?) -> Rejection? {
            guard expected != found else { return nil }
            return Rejection(
                .appStoreContradicts, expected: "\(path) \(expected ?? "absent")",
                found: found.map { String(decoding: $0.utf8.prefix(200), as: UTF8.self) } ?? "absent")
        }
        // What Apple never changes of a transaction.
        let refusal =
            rejection("productId", proven.productID, replied.productID)
            ?? rejection("originalTransactionId", proven.originalTransactionID, replied.originalTransactionID)
        self.init(refusal: refusal, isContradiction: refusal != nil)
        environment = answer.environment.rawValue
        status = 0
        reply = answer.body
        if refusal == nil { latestReceipt = Array(answer.value.text.utf8) }
    }

    /// The App Store does not know a transaction that carries its signature.
    package init(unknownTo error: AppStoreServerError) {
        self.init(
            refusal: Rejection(
                .appStoreRefused, expected: "a transaction of the App Store",
                found: "number \(error.number?.rawValue ?? 0)"),
            isContradiction: true)
        environment = error.environment.rawValue
        status = error.number?.rawValue
    }
}

extension SignedTransaction {
    /// Whether the App Store may not know the transaction yet: its servers learn of a purchase later than the device.
    /// The answer "not found" has no signature, so it refuses nothing that was bought a moment ago.
    func isNew(at now: Timestamp) -> Bool {
        guard let purchaseDate = self.purchaseDate else { return false }
        return now.millisecondsSince1970 - purchaseDate.millisecondsSince1970 < 3_600_000
    }
}

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
