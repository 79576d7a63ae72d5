import PurchaseVerification

/// A claim whose evidence was verified.
public struct ExaminedSubmission: Sendable {
    let submission: PurchaseSubmission
    let evidence: ExaminedEvidence?
    /// The reason why the claim cannot be decided. Its evidence is observed all the same, except where the App Store is
    /// to be asked first (`WaitingClaim`).
    let flaw: Rejection?

    /// Why the evidence failed verification, whatever else is wrong with the claim; `nil` if it is genuine or missing.
    public var evidenceRejection: Rejection? { evidence?.rejection }
}
