import Crypto
import Foundation

/// The store's record of evidence that it issued. `verifyReceipt` answers only from this record, never from the content
/// of a request.
struct IssuedEvidence: Codable, Equatable, Sendable {
    /// The SHA-256 of its bytes, in hexadecimal digits.
    let digest: String
    let kind: Kind
    let bundleID: String
    let customerID: String
    let environment: StoreEnvironment
    /// When it was signed.
    let creationDate: Date
    /// The fault in it; nil if it is genuine.
    let fault: String?
    /// The transactions in it, as they were then and in its order.
    var transactions: [StoreTransaction]
    /// The fields of an app receipt outside of its purchases.
    let applicationVersion: String
    let originalPurchaseDate: Date

    enum Kind: String, Codable, Sendable {
        case appReceipt = "app_receipt"
        case transactionReceipt = "transaction_receipt"
    }

    static func digest(of bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0\(digits)" : digits
        }.joined()
    }
}
