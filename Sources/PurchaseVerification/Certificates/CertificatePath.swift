/// A leaf that a trust anchor vouches for. Only `CertificatePathBuilder` creates one, after all certificates of the
/// path were checked.
///
/// The validity period is kept separately, because it is checked again for each receipt.
final class CertificatePath: Sendable {
    let leaf: Certificate
    /// The authorities between the leaf and the anchor, the leaf's issuer first; empty if the anchor issued the leaf or
    /// is the leaf.
    let intermediates: [Certificate]
    let anchor: TrustAnchor
    /// The period in which all certificates of the path, the anchor included, are valid.
    let validity: CertificateValidity

    init(
        leaf: Certificate, intermediates: [Certificate], anchor: TrustAnchor
    ) {
        self.leaf = leaf
        self.intermediates = intermediates
        self.anchor = anchor
        validity = intermediates.reduce(leaf.validity.intersection(anchor.certificate.validity)) {
            $0.intersection($1.validity)
        }
    }

    /// Whether the operator trusts the leaf itself.
    var isLeafAnchored: Bool { anchor.mayStandForItself && leaf.der == anchor.certificate.der }

    /// Whether every certificate of the path is valid at the time.
    func isValid(at moment: AppStoreTime) -> Bool { validity.contains(moment) }
}
