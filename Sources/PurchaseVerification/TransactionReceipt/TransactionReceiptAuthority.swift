/// Checks the certificate in a transaction receipt. Its issuer is not included: it is one of the authorities that are
/// known by their keys.
struct TransactionReceiptAuthority: Sendable {
    private let authorities: [IssuingAuthority]
    var memory: CertificatePathMemory

    /// - Parameter anchors: the operator's anchors issue leaves if they are authorities; Apple's authorities are
    ///   constants.
    init(anchors: [TrustAnchor], memory: CertificatePathMemory) {
        self.memory = memory
        let named = anchors.compactMap(IssuingAuthority.init(operatorNamed:))
        authorities = (anchors.contains { $0.isApple } ? IssuingAuthority.apple : []) + named
    }

    /// The leaf, if a permitted authority issued it, with everything checked at the time.
    func leaf(
        _ field: SignatureField, at moment: AppStoreTime
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
        of leaf: Certificate, _ version: TransactionReceiptVersion, at moment: AppStoreTime
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
                let (validity, name) = (authority.validity, authority.subject.description)
                try validity.require(moment, of: name, tolerance: CertificateValidity.recent)
                try leaf.requireSignature(by: try authority.publicKey.get(), named: authority.subject)
                do throws(VerificationError) {
                    try validity.require(moment, of: name)
                } catch {
                    var ended = error
                    ended.authorityEnd = validity.notAfter
                    throw ended
                }
                return authority
            } catch {
                failure = error
            }
        }
        throw failure
    }
}
