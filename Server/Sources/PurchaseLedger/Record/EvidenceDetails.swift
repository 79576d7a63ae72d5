import PurchaseVerification

/// `evidence`: the source of evidence without a claim.
struct EvidenceDetails: JournalDetails {
    static var kind: JournalKind { .evidence }
    var source: String
    var evidenceKind: String?
    /// Why it was not observed.
    var held: String?
    var unverified: UnverifiedPart?
}
