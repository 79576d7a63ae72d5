import PurchaseVerification

/// The verdict of a verifier on evidence.
struct Verdict: Sendable {
    private(set) var evidence: VerifiedEvidence?
    private(set) var error: VerificationError?

    init(_ verifier: PurchaseVerifier, _ bytes: [UInt8], policies: [any PurchasePolicy] = []) {
        do throws(VerificationError) {
            evidence = try verifier.verify(bytes, policies: policies)
        } catch {
            self.error = error
        }
    }

    var code: String { error?.code.rawValue ?? "accepted" }

    /// Whether it accepts the same content by the same signer.
    func isSame(as other: Verdict) -> Bool {
        evidence == other.evidence && signer == other.signer && error == other.error
    }

    private var signer: String? {
        if case .appReceipt(let receipt) = evidence { return receipt.signer?.subject }
        return nil
    }
}
