package import PurchaseLedger
import PurchaseVerification

/// The answer that the receipt alone gives, and what to ask the ledger for a newer one.
package struct PreparedAnswer: Sendable {
    /// What the answer is about.
    enum Subject: Sendable {
        case app(VerifyReceiptService.Sent, AppReceipt)
        case transaction(VerifyReceiptService.Sent, TransactionReceipt)
        case signed(VerifyReceiptService.Sent, SignedTransaction)
    }

    /// The answer as of signing.
    package let answer: VerifyReceiptService.Answer
    /// The question; `nil` if nothing can be known about the receipt.
    package var question: StateOfReceipt?
    /// The app of the receipt; `nil` if the settings have none, or if it was refused.
    package var app: String?
    /// The evidence, for a record of it.
    package var evidence: [UInt8]?
    /// How long the answer waits for the App Store on a miss, in seconds; `nil` if it is not asked.
    var askSeconds: Double?
    /// What was verified, and how long it took, for metrics; `nil` if nothing was.
    var verification: (kind: EvidenceKind?, error: ReasonCode?, duration: Duration)?
    var subject: Subject?
    /// Whether a genuine signed transaction was sent, also if it is refused.
    package var isOfSignedTransaction: Bool {
        verification.map { $0.kind == .signedTransaction && $0.error == nil } ?? false
    }
    /// The statements of the receipt.
    var observation: Observation?

    init(_ answer: VerifyReceiptService.Answer) { self.answer = answer }

    /// The subscriptions without signed news in an answer.
    ///
    /// - Parameter answer: the answer with the state of the ledger; `nil` if that is nothing.
    /// - Returns: `nil` if there are none.
    func missing(_ answer: VerifyReceiptService.Answer?) -> MissingNews? {
        guard let app, let question, let observation else { return nil }
        var originals = answer?.unconfirmed ?? []
        if answer == nil {
            for facts in observation.transactionFacts where facts.kind == .autoRenewable {
                let original = facts.original.transactionID.string
                if !originals.contains(where: { ExactText($0) == ExactText(original) }) { originals.append(original) }
            }
        }
        guard !originals.isEmpty else { return nil }
        return MissingNews(
            app: app, bundleID: question.bundleID.string, environment: question.environment, originals: originals)
    }
}
