import PurchaseVerification

/// The App Store's answer about a claim, with the claim's evidence verified again.
public struct ExaminedAppStoreAnswer: Sendable {
    let claim: AppStoreClaim
    let answer: AppStoreAnswer
    let evidence: ExaminedEvidence?
    let reply: StorableEvidence?
    let latest: ExaminedEvidenceSubmission?
}
