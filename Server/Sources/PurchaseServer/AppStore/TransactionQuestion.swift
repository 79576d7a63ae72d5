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
