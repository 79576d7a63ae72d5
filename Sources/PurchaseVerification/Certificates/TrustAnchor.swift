/// A certificate that the caller trusts by its bytes, regardless of its issuer.
///
/// Evidence cannot add one. Apple's roots are in `apple`; the operator names all others.
public struct TrustAnchor: Sendable {
    let certificate: Certificate
    let authority: Authority

    /// The environments that an anchor may vouch for.
    enum Authority: Sendable {
        /// Apple: production and sandbox.
        case apple
        /// An authority named by the operator: every environment that the operator accepts, if the certificate may
        /// issue others; otherwise only itself, and only for environments that are local to a developer's machine.
        case operatorNamed
    }

    /// Trusts a certificate that the caller names, in DER: the root of a simulator, or Xcode's own signing certificate.
    ///
    /// - Throws: `VerificationError` with the code `certificate_malformed` or `public_key_unacceptable`.
    public init(certificate der: [UInt8]) throws(VerificationError) {
        try self.init(der, .operatorNamed)
    }

    init(_ der: [UInt8], _ authority: Authority) throws(VerificationError) {
        certificate = try Certificate(der)
        _ = try certificate.publicKey.get()
        self.authority = authority
    }

    /// The certificate's subject, in words.
    public var subject: String { certificate.subject.description }

    /// The end of the certificate's validity (RFC 5280, section 4.1.2.5).
    public var notAfter: AppStoreTime { certificate.validity.notAfter }

    /// Whether it is one of Apple's roots.
    var isApple: Bool {
        switch authority {
        case .apple: true
        case .operatorNamed: false
        }
    }

    /// Whether evidence may be signed with the anchor's own key, as Xcode does it.
    var mayStandForItself: Bool {
        switch authority {
        case .apple: false
        case .operatorNamed: true
        }
    }

    /// Whether the anchor may vouch for evidence of this environment.
    ///
    /// Apple never signs evidence of Xcode or a simulator. Every developer has the key of Xcode's certificate, and must
    /// not be able to sign production purchases with it.
    func vouches(for environment: AppStoreEnvironment?, signedByAnchorItself: Bool) -> Bool {
        switch (authority, environment) {
        case (.apple, .production), (.apple, .sandbox): true
        case (.apple, _): false
        case (.operatorNamed, .production), (.operatorNamed, .sandbox), (.operatorNamed, nil): !signedByAnchorItself
        case (.operatorNamed, _): true
        }
    }
}
