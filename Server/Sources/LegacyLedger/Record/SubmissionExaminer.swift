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
        let verified: VerifiedEvidence
        do throws(VerificationError) {
            verified = try verifier.verify(evidence, policies: [PurchasesPolicy(policies: app.policies)])
        } catch {
            // What was verified knows what it is; only the others are read once more for it.
            kind = evidence.kind
            throw error
        }
        kind = verified.kind
        guard let purchases = try ProvenPurchase.purchases(of: verified) else { return .unsuitable(verified.kind) }
        return .verified(purchases)
    }
}

/// A submission that was verified and waits for its decision.
public struct ExaminedSubmission: Sendable {
    /// The submission as it was sent.
    public let submission: PurchaseSubmission
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
        if let appleID { policies.append(AppAppleIDPolicy(appleID)) }
        if !versions.isEmpty { policies.append(StatedVersionPolicy(versions: versions)) }
        return policies
    }
}

/// What is demanded of evidence that can prove a purchase. Of the rest, whether it is genuine is all that is asked: it need not
/// name an app.
private struct PurchasesPolicy: PurchasePolicy {
    let policies: [any PurchasePolicy]

    var name: String { "app" }

    func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        guard [.appReceipt, .transactionReceipt, .signedTransaction].contains(facts.kind) else { return }
        for policy in policies { try policy.check(facts) }
    }
}

/// The evidence belongs to one of the app's versions, where it is of a kind that names one. Signed transactions never do.
private struct StatedVersionPolicy: PurchasePolicy {
    let versions: Set<String>

    var name: String { "app version" }

    func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        guard facts.kind != .signedTransaction else { return }
        try ApplicationVersionPolicy(anyOf: versions).check(facts)
    }
}
