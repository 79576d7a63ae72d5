import PurchaseAPI
import PurchaseVerification

/// What the server decided about one transaction.
struct ServerDecision {
    let disposition: Disposition?
    let error: PurchaseError
    var isReplayed = false
    var submissionID: String?
    /// The answer with entitlements.
    var answer: PurchaseRecord.StoredAnswer?
}

extension ServerDecision {
    /// A problem: an unknown disposition, or none, finishes nothing.
    init(_ problem: ProblemDocument) {
        disposition = problem.disposition
        error = PurchaseError(
            PurchaseError.Code(rawValue: problem.code), expected: problem.expected, found: problem.found,
            detail: problem.detail)
        submissionID = problem.submissionID
    }

    /// The part of a restore that is about one transaction.
    init(_ answer: RestoreAnswer, about transaction: PaymentTransaction, _ stored: PurchaseRecord.StoredAnswer?) {
        self.answer = stored
        if let purchase = answer.purchase(of: transaction) {
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
    /// The outcome of a transaction. A restored transaction of the original API has an id of its own, and is found by its original.
    func purchase(of transaction: PaymentTransaction) -> RestoredPurchaseMessage? {
        let product = purchases.filter { transaction.productID.isSame(as: $0.productID) }
        return product.first { transaction.transactionID?.isSame(as: $0.transactionID) ?? false }
            ?? (transaction.state == .restored
                ? product.first { transaction.originalTransactionID?.isSame(as: $0.originalTransactionID) ?? false }
                : nil)
    }
}
