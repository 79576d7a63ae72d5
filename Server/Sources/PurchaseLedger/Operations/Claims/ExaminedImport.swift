import PurchaseVerification

/// A row of an import whose evidence was verified.
public struct ExaminedImport: Sendable {
    let submission: ImportSubmission
    let evidence: [ExaminedEvidence]
}
