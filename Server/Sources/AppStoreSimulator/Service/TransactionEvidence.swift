import EvidenceMint
import Foundation

/// All evidence of one transaction.
struct TransactionEvidence: Encodable, Sendable {
    /// The customer's app receipt, in base64.
    var appReceipt: String
    /// The transaction receipt (iOS 6 kind), in base64.
    var transactionReceipt: String
    /// Compact JWS.
    var signedTransaction: String
    /// Compact JWS; only of subscriptions.
    var signedRenewalInfo: String?
    /// Compact JWS.
    var appTransaction: String
}
