/// The front door: bytes in, a verified value or one reason out.
///
/// It does no I/O, reads no clock and holds no state but the certificate paths that it has verified before. One verifier
/// serves any number of threads.
///
///     let verifier = PurchaseVerifier()
///     let receipt = try verifier.verify(evidence, policies: [
///         EnvironmentPolicy(accepting: [.production]),
///         BundleIDPolicy("com.example.app"),
///     ])
public struct PurchaseVerifier: Sendable {
    let anchors: [TrustAnchor]
    private let memory = CertificatePathMemory()

    /// - Parameter anchors: whom to trust. Nothing in the evidence can add to it.
    public init(anchors: [TrustAnchor] = TrustAnchor.apple) {
        self.anchors = anchors
    }

    /// Verifies an app receipt, cheapest checks first, and stops at the first that fails: size and form, certificate path at
    /// the creation date, marker extensions, signature, content, and then the caller's policies in their order.
    ///
    /// - Parameters:
    ///   - evidence: the receipt, bare or in base64.
    ///   - policies: what the caller demands beyond that it is genuine. Without any, a receipt of any app passes.
    /// - Throws: the first reason against it.
    public func verify(
        _ evidence: [UInt8], policies: [any AppReceiptPolicy]
    ) throws(VerificationError) -> AppReceipt {
        try verify(try Evidence(evidence), policies: policies)
    }

    /// Verifies evidence that was recognised already, in the same way.
    public func verify(
        _ evidence: Evidence, policies: [any AppReceiptPolicy]
    ) throws(VerificationError) -> AppReceipt {
        let container = try AppReceiptContainer(try evidence.appReceiptBytes())
        let creationDate = try AppReceiptPayload.creationDate(container.payloadBytes.span, container.payload)
        let path = try certificatePath(of: container, at: creationDate)
        try ContentSignature.verify(container.signedData, container.bytes.span, key: try path.leaf.publicKey.get())
        let receipt = AppReceipt(
            try AppReceiptPayload(container.payloadBytes, container.payload), path: path)
        try path.requireVouching(for: receipt.environment)
        for policy in policies {
            try policy.check(receipt)
        }
        return receipt
    }

    /// The verified path from the container's signer to an anchor, valid at the moment and with Apple's markers.
    private func certificatePath(
        of container: AppReceiptContainer, at moment: Timestamp
    ) throws(VerificationError) -> CertificatePath {
        let bytes = container.bytes.span
        let certificates = container.signedData.certificates
        let leaf = try container.signerCertificate()
        if let path = memory.path(leaf: leaf, certificates: certificates, bytes), path.isValid(at: moment) {
            return path
        }
        let path = try newCertificatePath(of: container, leaf: leaf, at: moment)
        try MarkerPolicy.require(path)
        memory.remember(path)
        return path
    }

    /// The path of a chain that was not seen before, its markers not yet checked.
    func newCertificatePath(
        of container: AppReceiptContainer, leaf: Range<Int>, at moment: Timestamp
    ) throws(VerificationError) -> CertificatePath {
        let bytes = container.bytes.span
        var builder = CertificatePathBuilder(anchors: anchors, at: moment)
        for range in container.signedData.certificates where range != leaf {
            builder.add { () throws(VerificationError) in try Certificate(bytes.copy(range)) }
        }
        return try builder.path(from: try Certificate(bytes.copy(leaf)))
    }

    /// How many certificate paths the verifier remembers.
    package var rememberedPaths: Int { memory.count }
}

extension CertificatePath {
    /// Checks that the anchor may vouch for the environment.
    func requireVouching(for environment: AppStoreEnvironment?) throws(VerificationError) {
        guard anchor.vouches(for: environment, signedByAnchorItself: isLeafAnchored) else {
            throw VerificationError(
                .environmentNotVouchedFor, expected: "an environment that \(anchor.subject) may vouch for",
                found: environment?.name ?? "none")
        }
    }
}
