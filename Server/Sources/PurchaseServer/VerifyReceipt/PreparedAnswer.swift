package import PurchaseLedger
import PurchaseVerification

/// The answer that the receipt alone gives, and what to ask the ledger for a newer one.
package struct PreparedAnswer: Sendable {
    /// What the answer is about.
    enum Subject: Sendable {
        case app(VerifyReceiptService.Sent, AppReceipt)
        case transaction(VerifyReceiptService.Sent, TransactionReceipt)
    }

    /// The answer as of signing.
    package let answer: VerifyReceiptService.Answer
    /// The question; `nil` if nothing can be known about the receipt.
    package var question: StateOfReceipt?
    /// The app of the receipt; `nil` if the settings have none, or if it was refused.
    package var app: String?
    /// The evidence, for a record of it.
    package var evidence: [UInt8]?
    var subject: Subject?
    /// The statements of the receipt.
    var observation: Observation?

    init(_ answer: VerifyReceiptService.Answer) { self.answer = answer }
}
