public import PurchaseVerification

/// Evidence with the result of its verification, and its stored form. It is a class because every step of a write
/// passes it on.
public final class ExaminedEvidence: Sendable {
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
    let receiptPlace: ReceiptPlace?

    init(
        kind: EvidenceKind?, verified: Result<Observation, VerificationError>, objection: VerificationError?,
        bundleID: ExactText?, environment: AppStoreEnvironment?, stored: StorableEvidence, isEmptyReceipt: Bool,
        notification: NotificationFacts?, receiptPlace: ReceiptPlace? = nil
    ) {
        (self.kind, self.verified, self.objection, self.bundleID) = (kind, verified, objection, bundleID)
        (self.environment, self.stored, self.isEmptyReceipt) = (environment, stored, isEmptyReceipt)
        (self.notification, self.receiptPlace) = (notification, receiptPlace)
    }

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
