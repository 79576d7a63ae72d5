/// An authority that may issue the certificates of transaction receipts.
final class IssuingAuthority: Sendable {
    let subject: DistinguishedName
    let publicKey: Result<PublicKey, VerificationError>
    let validity: CertificateValidity
    let role: Role
    /// The operator's anchor; `nil` for an authority of Apple.
    private let anchor: TrustAnchor?

    /// The kind of leaves that an authority issues, according to its marker extension.
    enum Role: String, Sendable {
        case developerRelations = "a developer relations authority"
        case iTunesStore = "an iTunes Store authority"
    }

    /// Apple's, by their published keys.
    static let apple: [IssuingAuthority] = AppleIssuingAuthority.allCases.map(IssuingAuthority.init)

    private init(_ known: AppleIssuingAuthority) {
        subject = DistinguishedName(known.subject)
        let info = known.publicKeyInfo[...]
        publicKey = Result { () throws(VerificationError) in
            try PublicKey(info.span, subjectPublicKeyInfo: 0..<info.count)
        }
        validity = known.validity
        role = known.role
        anchor = nil
    }

    /// A certificate that the operator trusts, if it is such an authority.
    init?(operatorNamed anchor: TrustAnchor) {
        let certificate = anchor.certificate
        guard anchor.mayStandForItself, certificate.extensions.isAuthority,
            certificate.extensions.maySignCertificates, certificate.extensions.unknownCriticalExtension == nil
        else { return nil }
        if certificate.extensions.hasDeveloperRelationsMarker {
            role = .developerRelations
        } else if certificate.extensions.hasITunesStoreMarker {
            role = .iTunesStore
        } else {
            return nil
        }
        subject = certificate.subject
        publicKey = certificate.publicKey
        validity = certificate.validity
        self.anchor = anchor
    }

    /// Checks that the authority may vouch for the environment.
    func requireVouching(for environment: AppStoreEnvironment?) throws(VerificationError) {
        let mayVouch =
            if let anchor {
                anchor.vouches(for: environment, signedByAnchorItself: false)
            } else {
                environment == .production || environment == .sandbox
            }
        guard mayVouch else {
            throw VerificationError(
                .environmentNotVouchedFor, expected: "an environment that \(subject) may vouch for",
                found: environment?.name ?? "none")
        }
    }
}
