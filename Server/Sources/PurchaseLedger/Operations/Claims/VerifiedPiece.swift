public import PurchaseVerification

/// A verification that ended: what the evidence is, and its result.
public struct VerifiedPiece: Sendable {
    /// The kind; `nil` if it could not be recognised.
    public let kind: EvidenceKind?
    /// Why it is not genuine; `nil` if it is.
    public let error: VerificationError?
    /// How long the verification took.
    public let duration: Duration
}
