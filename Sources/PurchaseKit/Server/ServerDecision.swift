import PurchaseMessages
import PurchaseVerification

/// The server's decision about one transaction.
struct ServerDecision {
    let disposition: Disposition?
    let error: PurchaseError
    var isReplayed = false
    var submissionID: String?
    /// The pause in seconds that the server asks for.
    var retryAfter: Double?
    /// The answer with entitlements.
    var answer: PurchaseRecord.StoredAnswer?
}

extension ServerDecision {
    /// A problem document. With an unknown or absent disposition, the transaction is not finished.
    init(_ problem: ProblemDocument, retryAfter: Double?) {
        disposition = problem.disposition
        error = PurchaseError(
            PurchaseError.Code(rawValue: problem.code), expected: problem.expected, found: problem.found,
            detail: problem.detail)
        submissionID = problem.submissionID
        self.retryAfter = retryAfter
    }

    /// The part of a restore that is about one transaction.
    init(_ answer: RestoreAnswer, about entry: OutboxEntry, _ stored: PurchaseRecord.StoredAnswer?) {
        self.answer = stored
        if let purchase = answer.purchase(of: entry) {
            disposition = purchase.disposition
            error = PurchaseError(PurchaseError.Code(rawValue: purchase.code), detail: purchase.detail)
            (isReplayed, submissionID) = (purchase.replayed, purchase.submissionID)
        } else if let refused = answer.refused.first, answer.refused.count == 1, answer.purchases.isEmpty {
            disposition = refused.disposition
            error = PurchaseError(
                PurchaseError.Code(rawValue: refused.code), expected: refused.expected, found: refused.found,
                detail: refused.detail)
            submissionID = refused.submissionID
        } else {
            disposition = nil
            error = PurchaseError(.transactionNotInEvidence)
        }
    }
}

extension RestoreAnswer {
    /// The outcome of a transaction. A restored transaction of the original API has an id of its own, and is found by the transaction
    /// that proves it.
    func purchase(of entry: OutboxEntry) -> RestoredPurchaseMessage? {
        purchases.first {
            entry.transaction.productID.isSame(as: $0.productID)
                && entry.purchaseKey.transactionID.isSame(as: $0.transactionID)
        }
    }
}
