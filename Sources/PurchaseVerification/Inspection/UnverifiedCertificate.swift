/// The fields of an embedded certificate.
public struct UnverifiedCertificate: Sendable {
    /// The whole certificate.
    public let der: [UInt8]
    public let subject: String
    public let issuer: String
    /// Hexadecimal.
    public let serialNumber: String
    public let notBefore: AppStoreTime
    public let notAfter: AppStoreTime
    /// The kind of key, such as `RSA 2048`, or the reason why it is not accepted.
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
