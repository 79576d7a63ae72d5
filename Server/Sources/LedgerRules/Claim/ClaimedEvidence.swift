package import PurchaseVerification

/// The evidence of a claim, as far as the rules need it.
package struct ClaimedEvidence {
    /// The kind, if it could be recognised.
    package var kind: EvidenceKind?
    /// Why it did not verify.
    package var failure: VerificationError?
    /// Why the app's settings do not accept it.
    package var objection: VerificationError?
    /// The purchases that it proves and that are claimed.
    package var proven: [ObservedTransaction] = []
    /// Whether it states any transaction.
    package var statesTransactions = false
    /// Whether it is a receipt without purchases.
    package var isEmptyReceipt = false
    /// The transaction that the claim names; `nil` if every purchase is claimed.
    package var transactionID: String?

    package init(
        kind: EvidenceKind?, objection: VerificationError? = nil, isEmptyReceipt: Bool = false,
        transactionID: String? = nil
    ) {
        (self.kind, self.objection) = (kind, objection)
        (self.isEmptyReceipt, self.transactionID) = (isEmptyReceipt, transactionID)
    }

    /// Whether it proves what can be claimed at all: a transaction or, if every purchase is claimed, one with a
    /// product.
    package var provesTransactions: Bool { transactionID == nil ? !proven.isEmpty : statesTransactions }
}
