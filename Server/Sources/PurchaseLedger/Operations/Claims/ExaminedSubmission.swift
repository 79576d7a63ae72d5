import PurchaseVerification

/// A claim whose evidence was verified. It is a class because every step of a write passes it on.
public final class ExaminedSubmission: Sendable {
    let submission: PurchaseSubmission
    let evidence: ExaminedEvidence?
    /// The reason why the claim cannot be decided. Its evidence is observed all the same, except where the App Store is
    /// to be asked first (`WaitingClaim`).
    let flaw: Rejection?

    init(submission: PurchaseSubmission, evidence: ExaminedEvidence?, flaw: Rejection?) {
        (self.submission, self.evidence, self.flaw) = (submission, evidence, flaw)
    }

    /// Why the evidence failed verification, whatever else is wrong with the claim; `nil` if it is genuine or missing.
    public var evidenceRejection: Rejection? { evidence?.rejection }
}
