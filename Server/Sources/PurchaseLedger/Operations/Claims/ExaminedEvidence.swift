public import PurchaseVerification

/// Evidence with the result of its verification, and its stored form.
public struct ExaminedEvidence: Sendable {
    /// The kind, if it could be recognised.
    public let kind: EvidenceKind?
    let verified: Result<Observation, VerificationError>
    /// The reason why the app's settings do not accept genuine evidence.
    let objection: VerificationError?
    let bundleID: ExactText?
    let environment: AppStoreEnvironment?
    let stored: StorableEvidence
    /// Whether it is a receipt without purchases.
    let isEmptyReceipt: Bool
    /// The notification, if it is one.
    let notification: NotificationFacts?
    /// Where it belongs among the receipts of a download, if it is an app receipt.
    var receiptPlace: ReceiptPlace?

    /// Why it failed verification; `nil` if it is genuine.
    var rejection: Rejection? { error.map { Rejection($0) } }

    /// The same, as the core says it.
    var error: VerificationError? {
        if case .failure(let error) = verified { error } else { nil }
    }

    /// The evidence for the rules.
    ///
    /// - Parameter transactionID: the transaction that the claim names; `nil` if every purchase is claimed.
    func claimed(_ transactionID: String? = nil) -> ClaimedEvidence {
        var claimed = ClaimedEvidence(
            kind: kind, objection: objection, isEmptyReceipt: isEmptyReceipt, transactionID: transactionID)
        switch verified {
        case .failure(let error): claimed.failure = error
        case .success(let observation):
            claimed.statesTransactions = !observation.transactions.isEmpty
            let id = transactionID.map { ExactText($0) }
            claimed.proven = observation.transactionFacts.filter {
                $0.productID != nil && (id == nil || $0.key.transactionID == id)
            }
        }
        return claimed
    }

    /// The source of its statements.
    var source: EvidenceSource {
        switch kind {
        case .appReceipt: .appReceipt
        case .transactionReceipt: .transactionReceipt
        default: .signedData
        }
    }
}
