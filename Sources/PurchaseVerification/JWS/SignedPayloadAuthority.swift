import Crypto
import Synchronization

/// Judges the certificates of signed data and the signature over it.
struct SignedPayloadAuthority: Sendable {
    private let anchors: [TrustAnchor]
    private let paths: CertificatePathMemory
    private let headers = HeaderMemory()

    init(anchors: [TrustAnchor], paths: CertificatePathMemory) {
        self.anchors = anchors
        self.paths = paths
    }

    /// The path that was verified for exactly this header before.
    func rememberedPath(_ jws: CompactJWS) -> CertificatePath? { headers.path(jws) }

    /// How many headers are remembered.
    var rememberedHeaders: Int { headers.count }

    /// The verified path of the header's leaf, valid at the moment and with Apple's markers.
    func path(_ jws: CompactJWS, at moment: Timestamp) throws(VerificationError) -> CertificatePath {
        let header = try JWSHeader(try jws.decodedHeader())
        let path = try path(header, at: moment, checkingMarkers: true)
        // A header can be spelt in many ways, so that strangers could fill the memory with one genuine chain. Only Apple's
        // own spelling enters, and only with the very root that the path ends in.
        if header.isCanonical, header.certificates.last == path.anchor.certificate.der {
            headers.remember(jws, path)
        }
        return path
    }

    /// The path of a header, its markers checked where that is asked for. The third certificate is not looked at: a path ends
    /// at an anchor that the caller holds.
    func path(
        _ header: JWSHeader, at moment: Timestamp, checkingMarkers: Bool
    ) throws(VerificationError) -> CertificatePath {
        let leafDER = header.certificates[0]
        let bytes = header.certificates.prefix(2).flatMap(\.self)
        let ranges = [0..<leafDER.count, leafDER.count..<bytes.count].prefix(header.certificates.prefix(2).count)
        if let path = paths.path(leaf: 0..<leafDER.count, certificates: Array(ranges), bytes.span),
            path.isValid(at: moment)
        {
            return path
        }
        let leaf = try Certificate(leafDER)
        var builder = CertificatePathBuilder(anchors: anchors, at: moment)
        for intermediate in header.certificates.dropFirst().prefix(1) {
            builder.add { () throws(VerificationError) in try Certificate(intermediate) }
        }
        let path = try builder.path(from: leaf)
        // One certificate is enough only where the operator trusts it by its bytes, as Xcode's.
        guard header.certificates.count == 3 || path.isLeafAnchored else {
            throw VerificationError(
                .jwsCertificateCountUnsupported, expected: "3 certificates", found: "\(header.certificates.count)")
        }
        guard checkingMarkers else { return path }
        try MarkerPolicy.require(path)
        paths.remember(path)
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
        // What is not even the form of a signature verifies nothing.
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: jws.signature) else { return false }
        var hash = SHA256()
        jws.bytes.span.extracting(jws.signingInput).withUnsafeBytes { hash.update(bufferPointer: $0) }
        return key.isValidSignature(signature, for: hash.finalize())
    }
}

/// Headers whose path was verified before, by their text: on a hit nothing of the header is decoded.
private final class HeaderMemory: Sendable {
    private struct Entry {
        let header: [UInt8]
        let path: CertificatePath
    }

    private let entries = Mutex<[Entry]>([])

    func path(_ jws: CompactJWS) -> CertificatePath? {
        let bytes = jws.bytes
        for entry in entries.withLock({ $0 }) {
            let header = entry.header
            if bytes.span.isEqual(jws.header, header.span) { return entry.path }
        }
        return nil
    }

    /// How many headers are remembered.
    var count: Int { entries.withLock { $0.count } }

    func remember(_ jws: CompactJWS, _ path: CertificatePath) {
        guard self.path(jws) == nil else { return }
        entries.withLock { entries in
            if entries.count >= VerificationBudget.rememberedPaths { entries.removeFirst() }
            entries.append(Entry(header: jws.bytes.span.copy(jws.header), path: path))
        }
    }
}
