import Foundation
import PurchaseVerification

/// A transaction that is not finished, with everything that StoreKit does not keep.
struct OutboxEntry: Codable, Equatable {
    var transaction: PaymentTransaction
    /// The customer at the time of the purchase; `nil` while nobody is known.
    var customerID: String?
    /// The order that it pays.
    var orderID: String?
    /// Whether it results from a call of `buy`. Others are sent as restores: a renewal, a shared purchase, an offer code.
    var wasStarted: Bool
    /// The evidence of the last attempt.
    var evidence: PurchaseEvidence?
    /// The transaction of the evidence that proves it; another one for a restored transaction of the original API.
    var provenID: String?
    var attempts = 0
    /// When it is tried again; `nil` as soon as possible.
    var nextAttempt: Date?
    /// The code of the last attempt.
    var code: PurchaseError.Code?
    /// The outcome that was decided and stored; then only finishing is left.
    var decision: Decision?

    enum Decision: String, Codable {
        case granted
        case refused
    }

    /// The identity of the transaction.
    var key: TransactionKey {
        TransactionKey(environment: transaction.environment, transactionID: transaction.transactionID ?? "")
    }

    /// The identity of the purchase, under which it is granted once: a restored transaction is no second purchase.
    var purchaseKey: TransactionKey {
        TransactionKey(environment: transaction.environment, transactionID: provenID ?? transaction.transactionID ?? "")
    }

    /// Notes its evidence; `verified` is `nil` if only the server judges it.
    mutating func prove(by evidence: PurchaseEvidence, _ verified: VerifiedEvidence?) {
        self.evidence = evidence
        guard let verified else { return }
        if let environment = verified.facts.environment { transaction.environment = environment.name }
        provenID = verified.facts(proving: transaction)?.transactionID
    }
}
