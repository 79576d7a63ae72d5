#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PurchaseVerifier {
    /// Verifies evidence as Foundation reads it from a file or a request, in any encoding that `verify(_:policies:)`
    /// accepts.
    public func verify(
        _ evidence: Data, policies: [any PurchasePolicy]
    ) throws(VerificationError) -> VerifiedEvidence { try verify([UInt8](evidence), policies: policies) }

    /// Verifies an app receipt as Foundation reads it from its file.
    public func verifyAppReceipt(
        _ evidence: Data, policies: [any PurchasePolicy]
    ) throws(VerificationError) -> AppReceipt { try verifyAppReceipt([UInt8](evidence), policies: policies) }
}
