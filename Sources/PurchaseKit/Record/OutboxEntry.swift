import Foundation

/// A transaction that is not finished, with everything that StoreKit does not keep.
struct OutboxEntry: Codable, Equatable {
    var transaction: PaymentTransaction
    /// The customer at the time of the purchase; `nil` while nobody is known.
    var customerID: String?
    /// The order that it pays.
    var orderID: String?
    /// Whether it came with a call of `buy`. Others are sent as restores: a renewal, a shared purchase, an offer code.
    var wasStarted: Bool
    /// What proved it at the last attempt.
    var evidence: PurchaseEvidence?
    var attempts = 0
    /// When it is tried again; `nil` as soon as possible.
    var nextAttempt: Date?
    /// The code of the last attempt.
    var code: PurchaseError.Code?
    /// What was decided and stored; then only finishing is left.
    var decision: Decision?

    enum Decision: String, Codable {
        case granted
        case refused
    }

    /// The identity of the transaction.
    var key: TransactionKey {
        TransactionKey(environment: transaction.environment, transactionID: transaction.transactionID ?? "")
    }
}
