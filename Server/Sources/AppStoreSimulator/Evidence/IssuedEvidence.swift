import Crypto
import EvidenceMint
import Foundation

/// What the store keeps of evidence that it issued. `verifyReceipt` answers from this alone, and never from what somebody sends.
struct IssuedEvidence: Codable, Equatable, Sendable {
    /// The SHA-256 of its bytes, in hexadecimal digits.
    let digest: String
    let kind: Kind
    let bundleID: String
    let customerID: String
    let environment: StoreEnvironment
    /// When it was signed.
    let creationDate: Date
    /// What is wrong with it; nil where it is genuine.
    let fault: String?
    /// The transactions in it, as they were then and in its order.
    let transactions: [StoreTransaction]
    /// Of an app receipt: what its head says.
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
