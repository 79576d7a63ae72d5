public import PurchaseVerification

/// Verifies what was submitted: all that costs time and needs no database.
public struct SubmissionExaminer: Sendable {
    private let verifier: PurchaseVerifier

    /// - Parameter verifier: whom it trusts.
    public init(verifier: PurchaseVerifier) {
        self.verifier = verifier
    }

    /// Verifies a submission, and makes its evidence ready to be kept.
    public func examine(_ submission: PurchaseSubmission) -> ExaminedSubmission {
        let claim: Result<PurchaseClaim, Rejection>
        do throws(Rejection) {
            claim = .success(try submission.claim())
        } catch {
            claim = .failure(error)
        }
        let evidence = submission.evidence.flatMap { $0.isEmpty ? nil : $0 }
        var kind: EvidenceKind?
        var proof: PurchaseProof?
        if let evidence, case .success = claim {
            do throws(VerificationError) {
                proof = try prove(evidence, for: submission.app, kind: &kind)
            } catch {
                proof = .refused(error)
            }
        }
        return ExaminedSubmission(
            submission: submission, claim: claim, proof: proof, kind: kind, evidence: evidence.map(StoredEvidence.init))
    }

    private func prove(
        _ bytes: [UInt8], for app: RegisteredApp, kind: inout EvidenceKind?
    ) throws(VerificationError) -> PurchaseProof {
        let evidence = try Evidence(bytes)
        kind = evidence.kind
        let receipt = try verifier.verify(evidence, policies: app.policies)
        return .verified(try ProvenPurchase.purchases(of: receipt))
    }
}

/// A submission that was verified and waits for its decision.
public struct ExaminedSubmission: Sendable {
    let submission: PurchaseSubmission
    let claim: Result<PurchaseClaim, Rejection>
    let proof: PurchaseProof?
    let kind: EvidenceKind?
    let evidence: StoredEvidence?
}

extension RegisteredApp {
    /// What the core demands of evidence of this app.
    var policies: [any PurchasePolicy] {
        var policies: [any PurchasePolicy] = [
            EnvironmentPolicy(accepting: environments), BundleIDPolicy(anyOf: bundleIDs),
        ]
        if !versions.isEmpty { policies.append(ApplicationVersionPolicy(anyOf: versions)) }
        return policies
    }
}
