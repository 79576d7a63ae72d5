// Signed data of answers, verified.

public import PurchaseVerification

/// Data that Apple signed, verified, with its text. Only an answer of the App Store Server API creates one.
public struct VerifiedJWS<Content: Sendable>: Sendable {
    /// The compact JWS, as Apple sent it: evidence that can be verified again.
    public let text: String
    public let content: Content

    init(_ text: String, _ content: Content) {
        self.text = text
        self.content = content
    }
}

/// A transaction that Apple signed.
public typealias TransactionJWS = VerifiedJWS<SignedTransaction>
/// Renewal info that Apple signed.
public typealias RenewalInfoJWS = VerifiedJWS<SignedRenewalInfo>
