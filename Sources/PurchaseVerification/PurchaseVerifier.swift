#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Verifies evidence: bytes in, a verified value or one reason out.
///
/// It does no I/O, reads no clock and holds no state but the certificates that it has verified before. One verifier
/// serves any number of threads.
///
///     let verifier = PurchaseVerifier()
///     switch try verifier.verify(bytes, policies: [
///         EnvironmentPolicy(accepting: [.production]),
///         BundleIDPolicy("com.example.app"),
///     ]) {
///     case .appReceipt(let receipt): …
///     case .signedTransaction(let transaction): …
///     …
///     }
public struct PurchaseVerifier: Sendable {
    let anchors: [TrustAnchor]

    /// The trusted certificates, in DER.
    public var trustedCertificates: [[UInt8]] { anchors.map(\.certificate.der) }
    let memory: CertificatePathMemory
    private(set) var transactionReceiptAuthority: TransactionReceiptAuthority
    private(set) var signedPayloadAuthority: SignedPayloadAuthority

    /// - Parameter anchors: the certificates to trust. Evidence cannot add to them.
    public init(anchors: [TrustAnchor] = TrustAnchor.apple) {
        self.anchors = anchors
        memory = CertificatePathMemory()
        transactionReceiptAuthority = TransactionReceiptAuthority(anchors: anchors, memory: memory)
        signedPayloadAuthority = SignedPayloadAuthority(anchors: anchors, memory: memory)
    }

    /// A verifier with the same anchors and a separate, empty memory.
    init(withoutMemoryOf verifier: PurchaseVerifier) {
        anchors = verifier.anchors
        memory = CertificatePathMemory()
        transactionReceiptAuthority = verifier.transactionReceiptAuthority
        transactionReceiptAuthority.memory = memory
        signedPayloadAuthority = verifier.signedPayloadAuthority
        signedPayloadAuthority.memory = memory
    }

    /// Verifies evidence of any kind, cheapest checks first, and stops at the first that fails: size and form,
    /// certificates at the date of signing, marker extensions, signature, content, and then the caller's policies in
    /// their order.
    ///
    /// - Parameters:
    ///   - evidence: an app receipt or a transaction receipt, bare or in base64, or signed data as a compact JWS.
    ///   - policies: further checks of the caller. Without any, genuine evidence of any app is accepted.
    /// - Throws: the first reason against it.
    public func verify(
        _ evidence: [UInt8], policies: [any PurchasePolicy]
    ) throws(VerificationError) -> VerifiedEvidence {
        try verify(try RecognizedEvidence(evidence), policies: policies)
    }

    /// Verifies evidence that was recognised already, in the same way.
    public func verify(
        _ evidence: RecognizedEvidence, policies: [any PurchasePolicy]
    ) throws(VerificationError) -> VerifiedEvidence {
        switch evidence.form {
        case .appReceipt: .appReceipt(try verifyAppReceipt(evidence, policies: policies))
        case .transactionReceipt:
            .transactionReceipt(try verifyTransactionReceipt(evidence.bytes, policies: policies))
        case .compactJWS: try verifySignedPayload(evidence.bytes, policies: policies)
        }
    }

    /// Verifies an app receipt, and refuses all other evidence.
    ///
    /// - Parameters:
    ///   - evidence: the receipt, bare or in base64.
    ///   - policies: further checks of the caller.
    /// - Throws: the first reason against it.
    public func verifyAppReceipt(
        _ evidence: [UInt8], policies: [any PurchasePolicy]
    ) throws(VerificationError) -> AppReceipt {
        try verifyAppReceipt(try RecognizedEvidence(evidence), policies: policies)
    }

    /// Verifies an app receipt that was recognised already, in the same way.
    public func verifyAppReceipt(
        _ evidence: RecognizedEvidence, policies: [any PurchasePolicy]
    ) throws(VerificationError) -> AppReceipt {
        try verifyAppReceipt(ber: try evidence.appReceiptBytes(), policies: policies)
    }

    /// Verifies a signed transaction that was recognised already, and refuses all other evidence.
    ///
    /// - Throws: the first reason against it; `jws_instead_of_receipt` for signed data of another kind, whoever signed
    ///   it.
    public func verifySignedTransaction(
        _ evidence: RecognizedEvidence, policies: [any PurchasePolicy]
    ) throws(VerificationError) -> SignedTransaction {
        let verified = try verifySignedPayload(try evidence.signedTransactionBytes(), policies: policies)
        guard case .signedTransaction(let transaction) = verified else {
            throw VerificationError(
                .jwsInsteadOfReceipt, expected: EvidenceKind.signedTransaction.rawValue, found: verified.kind.rawValue)
        }
        return transaction
    }

    /// The number of certificate paths that the verifier remembers.
    package var rememberedPaths: Int { memory.count }

    /// The number of paths that it remembers by the header of a signed payload.
    package var rememberedHeaders: Int { memory.headers }
}

extension EvidenceFacts {
    /// Checks the caller's policies, in their order.
    func require(_ policies: [any PurchasePolicy]) throws(VerificationError) {
        for policy in policies {
            try policy.check(self)
        }
    }
}

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
