/// A look into evidence that vouches for nothing: every check with its outcome, and what the bytes say.
///
/// Nothing in here is proof. To grant something, verify.
public struct AppReceiptInspection: Sendable {
    /// The kind of evidence and its text encoding; `nil` where it was not recognised.
    public let evidence: Evidence?
    /// Each check in the order in which `PurchaseVerifier` makes it. Here the later ones run, too, where they can.
    public let checks: [Check]
    /// The embedded certificates, in their order.
    public let certificates: [UnverifiedCertificate]
    /// The names on the verified path from leaf to anchor; empty where there is none.
    public let certificatePath: [String]
    /// How the content is signed, such as `SHA-256, rsaEncryption`; `nil` where the container could not be read.
    public let signature: String?
    /// The size of the container in bytes; `nil` where there is none.
    public let containerBytes: Int?
    /// What the receipt says, as far as it could be read.
    public let receipt: UnverifiedAppReceipt?

    /// One check and how it ended.
    public struct Check: Sendable {
        /// What is checked, in a few words.
        public let name: String
        public let outcome: Outcome
    }

    /// How a check ended.
    public enum Outcome: Sendable {
        case passed
        case failed(VerificationError)
        /// It could not be made, because an earlier one failed: that counts as failed, too.
        case notPossible
    }

    /// The first check that failed: what `PurchaseVerifier` would throw.
    public var firstFailure: VerificationError? {
        for check in checks {
            if case .failed(let error) = check.outcome { return error }
        }
        return nil
    }
}

/// What an embedded certificate says of itself.
public struct UnverifiedCertificate: Sendable {
    /// The whole certificate.
    public let der: [UInt8]
    public let subject: String
    public let issuer: String
    /// Hexadecimal.
    public let serialNumber: String
    public let notBefore: Timestamp
    public let notAfter: Timestamp
    /// The kind of key, such as `RSA 2048`, or why it is not accepted.
    public let publicKey: String
    public let signatureAlgorithm: String
    /// Whether it carries the marker of receipt signing certificates.
    public let hasReceiptSigningMarker: Bool
    /// Whether it carries the marker of Worldwide Developer Relations authorities.
    public let hasDeveloperRelationsMarker: Bool

    init(_ certificate: Certificate) {
        der = certificate.der
        subject = certificate.subject.description
        issuer = certificate.issuer.description
        serialNumber = hexadecimal(certificate.serialNumber)
        notBefore = certificate.validity.notBefore
        notAfter = certificate.validity.notAfter
        publicKey =
            switch certificate.publicKey {
            case .success(let key): key.kind
            case .failure(let error): error.message
            }
        signatureAlgorithm = certificate.signatureAlgorithm.rawValue
        hasReceiptSigningMarker = certificate.extensions.hasReceiptSigningMarker
        hasDeveloperRelationsMarker = certificate.extensions.hasDeveloperRelationsMarker
    }
}
