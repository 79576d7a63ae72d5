import PurchaseVerification

/// Evidence without a claim, with the result of its verification.
public struct ExaminedEvidenceSubmission: Sendable {
    let submission: EvidenceSubmission
    let evidence: ExaminedEvidence
}
