import Synchronization

/// Judges the certificate that a transaction receipt brings along. Its issuer does not travel: it is one of the authorities
/// that are known by their keys.
struct TransactionReceiptAuthority: Sendable {
    private let authorities: [IssuingAuthority]
    private let memory = VerifiedLeafMemory()

    /// - Parameter anchors: the operator's own ones issue leaves themselves if they are authorities; Apple's are known.
    init(anchors: [TrustAnchor]) {
        let named = anchors.compactMap(IssuingAuthority.init(operatorNamed:))
        authorities = (anchors.contains { $0.isApple } ? IssuingAuthority.apple : []) + named
    }

    /// The leaf, if an authority that may do so issued it, everything judged at the moment.
    func leaf(
        _ field: SignatureField, at moment: Timestamp
    ) throws(VerificationError) -> VerifiedLeaf {
        if let known = memory.leaf(field, at: moment) { return known }
        let leaf = try Certificate(
            field.certificate, rsaModulusBytes: field.version.signatureBytes...field.version.signatureBytes)
        let authority = try issuer(of: leaf, field.version, at: moment)
        try leaf.validity.require(moment, of: leaf.subject.description)
        if let unknown = leaf.extensions.unknownCriticalExtension {
            throw VerificationError(.criticalExtensionUnknown, found: "\(unknown) in \(leaf.subject)")
        }
        guard leaf.extensions.maySignContent else {
            throw VerificationError(
                .keyUsageUnsuitable, expected: "digitalSignature for \(leaf.subject)", found: "another key usage")
        }
        guard field.version.isMarked(leaf) else {
            throw VerificationError(
                .leafMarkerMissing, expected: "extension \(ObjectIdentifier.dotted(field.version.leafMarker))",
                found: leaf.subject.description)
        }
        let verified = VerifiedLeaf(leaf, version: field.version, authority: authority, key: try leaf.publicKey.get())
        memory.remember(verified)
        return verified
    }

    /// The authority that signed the leaf.
    private func issuer(
        of leaf: Certificate, _ version: TransactionReceiptVersion, at moment: Timestamp
    ) throws(VerificationError) -> IssuingAuthority {
        var failure = VerificationError(
            .issuerUnknown, expected: "an authority that issues receipt certificates", found: leaf.issuer.description)
        for authority in authorities where authority.subject == leaf.issuer {
            do throws(VerificationError) {
                guard authority.role == version.issuingRole else {
                    throw VerificationError(
                        .intermediateMarkerMissing, expected: version.issuingRole.rawValue,
                        found: authority.role.rawValue)
                }
                try authority.validity.require(moment, of: authority.subject.description)
                try leaf.requireSignature(by: try authority.publicKey.get(), named: authority.subject)
                return authority
            } catch {
                failure = error
            }
        }
        throw failure
    }
}

/// A leaf certificate of a transaction receipt that was judged in full, but for the time, which is judged for each receipt.
final class VerifiedLeaf: Sendable {
    let certificate: [UInt8]
    let version: TransactionReceiptVersion
    let authority: IssuingAuthority
    let key: PublicKey
    let validity: CertificateValidity
    let subject: DistinguishedName

    fileprivate init(
        _ leaf: Certificate, version: TransactionReceiptVersion, authority: IssuingAuthority, key: PublicKey
    ) {
        certificate = leaf.der
        self.version = version
        self.authority = authority
        self.key = key
        validity = leaf.validity.intersection(authority.validity)
        subject = leaf.subject
    }
}

/// The leaves that were judged before, found again by all of their bytes. As in `CertificatePathMemory`, only what an authority
/// signed can enter.
private final class VerifiedLeafMemory: Sendable {
    private let leaves = Mutex<[VerifiedLeaf]>([])

    /// A leaf is remembered once for each authority whose period it was judged in.
    func leaf(_ field: SignatureField, at moment: Timestamp) -> VerifiedLeaf? {
        let bytes = field.bytes
        for leaf in leaves.withLock({ $0 }) where leaf.version == field.version && leaf.validity.contains(moment) {
            let known = leaf.certificate
            if bytes.span.isEqual(field.certificateRange, known.span) { return leaf }
        }
        return nil
    }

    func remember(_ leaf: VerifiedLeaf) {
        leaves.withLock { leaves in
            guard !leaves.contains(where: { $0.isSame(as: leaf) }) else { return }
            if leaves.count >= VerificationBudget.rememberedPaths { leaves.removeFirst() }
            leaves.append(leaf)
        }
    }
}

extension VerifiedLeaf {
    fileprivate func isSame(as other: VerifiedLeaf) -> Bool {
        version == other.version && validity == other.validity && certificate == other.certificate
    }
}
