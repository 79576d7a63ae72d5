import Foundation
import PurchaseVerification

/// A transaction that is not finished, with everything that StoreKit does not keep.
struct OutboxEntry: Codable, Equatable {
    var transaction: PaymentTransaction
    /// The customer to whom it belongs; `nil` while nobody is known.
    var customerID: String?
    var orderID: String?
    /// Whether it results from `buy`. Others are sent as restores: a renewal, a shared purchase, an offer code.
    var wasStarted: Bool
    /// When the customer asked for its restore, by the device's clock.
    var requestedAt: Date?
    /// The transaction of the evidence that proves it; another one for a restored transaction of the original API.
    var provenID: String?
    /// When it arrived, by the device's clock.
    var arrivedAt: Date
    var attempts = 0
    /// How often it waited for a customer who was not signed in.
    var waits: Int?
    /// When it is tried again; `nil` as soon as possible.
    var nextAttempt: Date?
    var code: PurchaseError.Code?
    /// The outcome that was decided and stored; then only finishing is left.
    var decision: Decision?

    enum Decision: String, Codable {
        case granted
        case notCounted = "not_counted"
        case refused
    }

    /// The age from which an entry is tried only at the start: 60 days, as long as Apple retries a payment.
    static let longestAge: Double = 60 * 86_400

    var key: PurchaseKey {
        PurchaseKey(environment: transaction.environment, transactionID: transaction.transactionID ?? "")
    }

    /// The identity of the purchase, under which it is granted once: a restored transaction is no second purchase.
    var purchaseKey: PurchaseKey {
        PurchaseKey(environment: transaction.environment, transactionID: provenID ?? transaction.transactionID ?? "")
    }

    /// Whether the customer asked for its restore within the last day. Later somebody else may have it.
    func isRequested(at now: Date) -> Bool { requestedAt.map { abs(now.timeIntervalSince($0)) < 86_400 } ?? false }

    /// Whether the App Store withdrew it, as StoreKit says.
    var isWithdrawn: Bool { transaction.revocationDate != nil || transaction.isUpgraded }

    /// Whether it is too old to be tried by the clock. It did not arrive before it was paid: the clock was behind then.
    func isOld(at now: Date) -> Bool {
        now.timeIntervalSince(max(arrivedAt, transaction.purchaseDate ?? arrivedAt)) > Self.longestAge
    }

    mutating func prove(by verified: VerifiedEvidence) {
        if let environment = verified.facts.environment { transaction.environment = environment.name }
        provenID = verified.facts(proving: transaction)?.transactionID
    }

    // MARK: Evidence

    /// The evidence, which is stored apart: a receipt has 60 kB, and the record is written often.
    struct StoredEvidence: Codable, Equatable {
        var signedTransaction: String?
        var signedRenewalInfo: String?
        var transactionReceipt: Data?
    }

    var evidence: StoredEvidence {
        get {
            StoredEvidence(
                signedTransaction: transaction.signedTransaction, signedRenewalInfo: transaction.signedRenewalInfo,
                transactionReceipt: transaction.transactionReceipt)
        }
        set {
            transaction.signedTransaction = newValue.signedTransaction
            transaction.signedRenewalInfo = newValue.signedRenewalInfo
            transaction.transactionReceipt = newValue.transactionReceipt
        }
    }

    var evidenceName: String {
        "transaction-" + (transaction.transactionID ?? "").filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
