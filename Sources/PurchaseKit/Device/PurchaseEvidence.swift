public import Foundation
import PurchaseMessages

/// The evidence that proves a purchase to the server.
public enum PurchaseEvidence: Sendable, Codable, Equatable {
    /// A signed transaction of StoreKit 2. It is preferred, also for purchases by the original API, because the receipt
    /// on the disk lags behind.
    case signedTransaction(String)
    case appReceipt(Data)
    /// The receipt of one transaction, on systems without an app receipt.
    case transactionReceipt(Data)

    /// The bytes for the verifier.
    var bytes: [UInt8] {
        switch self {
        case .signedTransaction(let text): Array(text.utf8)
        case .appReceipt(let data), .transactionReceipt(let data): [UInt8](data)
        }
    }

    /// The member `receipt_data` of a request.
    var receiptData: String? {
        switch self {
        case .signedTransaction: nil
        case .appReceipt(let data), .transactionReceipt(let data): data.base64EncodedString()
        }
    }

    /// The member `signed_transaction` of a request.
    var signedTransaction: String? {
        if case .signedTransaction(let text) = self { text } else { nil }
    }
}
