import PurchaseVerification

/// What a verifier says of evidence.
struct Verdict: Sendable {
    private(set) var receipt: AppReceipt?
    private(set) var error: VerificationError?

    init(_ verifier: PurchaseVerifier, _ evidence: [UInt8]) {
        do throws(VerificationError) {
            receipt = try verifier.verify(evidence, policies: [])
        } catch {
            self.error = error
        }
    }

    var code: String { error?.code.rawValue ?? "accepted" }

    /// Whether it accepts the same content by the same signer.
    func isSame(as other: Verdict) -> Bool {
        receipt == other.receipt && receipt?.signer?.subject == other.receipt?.signer?.subject && error == other.error
    }
}
