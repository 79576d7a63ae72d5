import PurchaseVerification

/// The evidence of a claim, as far as the rules need it.
struct ClaimedEvidence {
    /// The kind, if it could be recognised.
    var kind: EvidenceKind?
    /// Why it did not verify.
    var failure: VerificationError?
    /// Why the app's settings do not accept it.
    var objection: VerificationError?
    /// The purchases that it proves and that are claimed.
    var proven: [ObservedTransaction] = []
    /// Whether it states any transaction.
    var statesTransactions = false
    /// Whether it is a receipt without purchases.
    var isEmptyReceipt = false
    /// The transaction that the claim names; `nil` if every purchase is claimed.
    var transactionID: String?

    /// Whether it proves what can be claimed at all: a transaction or, if every purchase is claimed, one with a
    /// product.
    var provesTransactions: Bool { transactionID == nil ? !proven.isEmpty : statesTransactions }
}
