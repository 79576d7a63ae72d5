#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// Judges the certificates of signed payloads and the signature over them.
struct SignedPayloadAuthority: Sendable {
    private let anchors: [TrustAnchor]
    var memory: CertificatePathMemory

    init(anchors: [TrustAnchor], memory: CertificatePathMemory) {
        self.anchors = anchors
        self.memory = memory
    }

    /// The path that was verified for exactly this header before.
    func rememberedPath(_ jws: CompactJWS) -> CertificatePath? {
        let bytes = jws.bytes[...]
        return memory.path(header: jws.header, bytes.span)
    }

    /// The verified path of the header's leaf, valid at the time and with Apple's markers.
    func path(
        _ jws: CompactJWS, _ header: JWSHeader, at moment: AppStoreTime
    ) throws(VerificationError) -> CertificatePath {
        let path = try path(header, at: moment)
        // One header can be written in many ways, so attackers could fill the memory with variants of one genuine
        // chain. Only Apple's own encoding enters, and only with the root at which the path ends; for other encodings,
        // only the chain enters.
        if header.isCanonical, header.certificates.last == path.anchor.certificate.der {
            memory.remember(path, header: Array(jws.bytes[jws.header]))
        } else {
            memory.remember(path)
        }
        return path
    }

    private func path(_ header: JWSHeader, at moment: AppStoreTime) throws(VerificationError) -> CertificatePath {
        let leafDER = header.certificates[0]
        let chain = header.certificates.prefix(2).flatMap(\.self)[...]
        let ranges = [0..<leafDER.count, leafDER.count..<chain.count].prefix(header.certificates.prefix(2).count)
        return try memory.validPath(
            leaf: 0..<leafDER.count, certificates: Array(ranges), chain.span, at: moment
        ) { () throws(VerificationError) in try newPath(header, at: moment) }.path
    }

    /// The path of a header that was not seen before, its markers not yet checked. The third certificate is looked at
    /// only to give a reason: a path ends at an anchor that the caller holds.
    func newPath(_ header: JWSHeader, at moment: AppStoreTime) throws(VerificationError) -> CertificatePath {
        var builder = CertificatePathBuilder(anchors: anchors, at: moment)
        let leaf = try Certificate(header.certificates[0])
        for intermediate in header.certificates.dropFirst().prefix(1) {
            builder.add { () throws(VerificationError) in try Certificate(intermediate) }
        }
        for root in header.certificates.dropFirst(2).prefix(1) { builder.addRoot(root) }
        let path = try builder.path(from: leaf)
        // One certificate is enough only if the operator trusts it by its bytes, as Xcode's.
        guard header.certificates.count == 3 || path.isLeafAnchored else {
            throw VerificationError(
                .jwsCertificateCountUnsupported, expected: "3 certificates", found: "\(header.certificates.count)")
        }
        return path
    }

    /// Checks that the leaf's key signed the data: ES256, which is ECDSA with P-256 and SHA-256 (RFC 7518, 3.4).
    static func requireSignature(_ jws: CompactJWS, by leaf: Certificate) throws(VerificationError) {
        guard case .p256(let key) = try leaf.publicKey.get() else {
            throw VerificationError(
                .publicKeyUnacceptable, expected: "a P-256 key", found: try leaf.publicKey.get().kind)
        }
        guard jws.signature.count == 64 else {
            throw VerificationError(
                .jwsMalformed, expected: "a signature of 64 bytes", found: "\(jws.signature.count)")
        }
        guard isSigned(jws, by: key) else { throw VerificationError(.signatureInvalid) }
    }

    private static func isSigned(_ jws: CompactJWS, by key: P256.Signing.PublicKey) -> Bool {
        // A malformed signature verifies nothing.
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: jws.signature) else { return false }
        var hash = SHA256()
        jws.bytes[jws.signingInput].withUnsafeBytes { hash.update(bufferPointer: $0) }
        return key.isValidSignature(signature, for: hash.finalize())
    }
}
