public import PurchaseVerification

/// The reason why an answer is not believed.
public enum AppStoreServerReplyFault: Error, Sendable {
    /// It is not JSON of the operation.
    case unreadable(String)
    /// Signed data in it does not verify, or is of another app or environment.
    case unverified(VerificationError)
    /// It is genuine, and about something else than what was asked.
    case otherAnswer(expected: String, found: String)
    /// Apple signed it long before it was asked for.
    case oldAnswer(signedAt: AppStoreTime?)
}
