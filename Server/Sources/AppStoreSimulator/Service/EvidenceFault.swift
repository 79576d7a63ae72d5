import Foundation
import PurchaseAPI

/// A fault of the next evidence that the store signs.
struct EvidenceFault: Codable, Equatable, Sendable {
    var kind: Kind
    /// The name of the fault.
    var fault: String
    /// The number of pieces of evidence that the fault still applies to.
    var count: Int

    enum Kind: String, Codable, Sendable, CaseIterable {
        case appReceipt = "app_receipt"
        case transactionReceipt = "transaction_receipt"
        case signedTransaction = "signed_transaction"
        case signedRenewalInfo = "signed_renewal_info"
        case appTransaction = "app_transaction"
        case notification

        /// Reads one of the words above.
        init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }
    }
}
