public import PurchaseVerification

extension PurchaseLedger {
    /// Verifies a realtime request of the Retention Messaging API. It is not kept: it proves no purchase.
    ///
    /// - Throws: `evidence_unrecognized` if it is other signed data.
    public func verifiedRealtimeRequest(_ signedPayload: [UInt8]) throws(VerificationError) -> RealtimeRequest {
        let verified = try verifier.verify(try Evidence(signedPayload), policies: [])
        guard case .realtimeRequest(let request) = verified else {
            throw VerificationError(
                .evidenceUnrecognized, expected: EvidenceKind.realtimeRequest.rawValue, found: verified.kind.rawValue)
        }
        return request
    }
}
