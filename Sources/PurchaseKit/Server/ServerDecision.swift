import PurchaseMessages
import PurchaseVerification

struct ServerDecision {
    var disposition: Disposition?
    let error: PurchaseError
    var isReplayed = false
    var submissionID: String?
    /// The original transaction, and whether it comes through Family Sharing, as the answer states it.
    var originalTransactionID: String?
    var isFamilyShared: Bool?
    var retryAfter: Double?
    /// What the answer says about the customer's products.
    var entitlements: EntitlementAnswer?
    /// Whether they are stored by now, with those of other transactions of the same answer.
    var isKept = false
    /// Why the purchase gives this customer nothing, although it is accepted; `nil` if it counts.
    var notCounted: PurchaseError?
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

    init(_ answer: PurchaseAnswer, _ entitlements: EntitlementAnswer) {
        disposition = answer.disposition
        error = PurchaseError(PurchaseError.Code(rawValue: answer.code))
        (isReplayed, submissionID) = (answer.replayed, answer.submissionID)
        originalTransactionID = answer.transaction.originalTransactionID
        isFamilyShared = answer.transaction.familyShared
        self.entitlements = entitlements
        notCounted = Self.notCounted(answer.transaction.productID, answer.transaction.environment, entitlements.asked)
    }

    /// The part of a restore that is about one transaction.
    init(_ answer: RestoreAnswer, about entry: OutboxEntry, _ entitlements: EntitlementAnswer?) {
        self.entitlements = entitlements
        if let purchase = answer.purchase(of: entry) {
            disposition = purchase.disposition
            error = PurchaseError(PurchaseError.Code(rawValue: purchase.code), detail: purchase.detail)
            (isReplayed, submissionID) = (purchase.replayed, purchase.submissionID)
            originalTransactionID = purchase.originalTransactionID
            notCounted = Self.notCounted(purchase.productID, purchase.environment, entitlements?.asked ?? [])
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

    /// An accepted purchase counts unless its entitlement is not active. Units that are used up by now were granted.
    static func notCounted(
        _ productID: String, _ environment: EnvironmentName, _ entitlements: [StoredEntitlement]
    ) -> PurchaseError? {
        let entitlement = entitlements.first {
            productID.isSame(as: $0.productID) && environment.rawValue.isSame(as: $0.environment)
        }
        guard let entitlement, !entitlement.counts else { return nil }
        return PurchaseError(
            entitlement.reason.map { PurchaseError.Code(rawValue: $0) } ?? .notCounted, found: entitlement.state,
            detail: PurchaseError.Code.notCounted.sentence)
    }
}

extension ServerDecision {
    func hasBalance(of productID: String) -> Bool {
        (entitlements?.asked ?? []).contains { productID.isSame(as: $0.productID) && $0.balance != nil }
    }
}

extension RestoreAnswer {
    /// The outcome of a transaction, which a restored one of the original API has by the one that proves it.
    func purchase(of entry: OutboxEntry) -> RestoredPurchaseMessage? {
        purchases.first {
            entry.transaction.productID.isSame(as: $0.productID)
                && entry.purchaseKey.transactionID.isSame(as: $0.transactionID)
        }
    }
}
