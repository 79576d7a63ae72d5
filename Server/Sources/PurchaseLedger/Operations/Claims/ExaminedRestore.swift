import PurchaseVerification

/// Evidence for a restore, with the result of its verification.
public struct ExaminedRestore: Sendable {
    let submission: RestoreSubmission
    let evidence: [ExaminedEvidence]

    /// The reason of each piece that failed verification.
    public var rejections: [Rejection] { evidence.compactMap(\.rejection) }
}
