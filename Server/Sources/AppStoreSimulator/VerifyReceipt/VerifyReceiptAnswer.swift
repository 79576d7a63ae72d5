import EvidenceMint
import PurchaseAPI

/// The answer to a request of `verifyReceipt`.
struct VerifyReceiptAnswer: Sendable {
    /// The JSON without a fault of transport.
    let json: [UInt8]
    /// The fault of the transport.
    let fault: AnswerFault?
}
