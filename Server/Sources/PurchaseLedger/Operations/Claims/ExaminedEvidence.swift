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

    /// Why it failed verification; `nil` if it is genuine.
    var rejection: Rejection? {
        if case .failure(let error) = verified { Rejection(error) } else { nil }
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
