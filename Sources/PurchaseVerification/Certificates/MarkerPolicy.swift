/// Apple's marker extensions: the leaf signs receipts, and a Worldwide Developer Relations authority issued it.
///
/// The markers distinguish receipts from other data that Apple signs (provisioning profiles, App Attest, developers'
/// code). A leaf that the operator trusts by its bytes needs none.
enum MarkerPolicy {
    static func require(_ path: CertificatePath) throws(VerificationError) {
        guard !path.isLeafAnchored else { return }
        guard path.leaf.extensions.hasReceiptSigningMarker else {
            throw VerificationError(
                .leafMarkerMissing,
                expected: "extension \(ObjectIdentifier.dotted(ObjectIdentifier.receiptSigningMarker))",
                found: path.leaf.subject.description)
        }
        guard let issuer = path.intermediates.first, issuer.extensions.hasDeveloperRelationsMarker else {
            throw VerificationError(
                .intermediateMarkerMissing,
                expected: "extension \(ObjectIdentifier.dotted(ObjectIdentifier.developerRelationsMarker))",
                found: path.leaf.issuer.description)
        }
    }
}
