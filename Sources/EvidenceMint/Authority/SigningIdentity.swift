public import Foundation

/// A certificate and the private key that belongs to it.
public struct SigningIdentity: Sendable {
    /// The certificate as DER.
    public let certificate: [UInt8]
    /// The private key of the certificate.
    public let privateKey: SigningKey
    /// The subject's name.
    public let subject: CertificateTemplate.Name
    /// The issuer's name.
    public let issuer: CertificateTemplate.Name
    /// The content octets of the serial number.
    public let serialNumber: [UInt8]
    /// The start of the validity.
    public let notBefore: Date
    /// The end of the validity.
    public let notAfter: Date

    /// The template of the certificate, if it was made in this process.
    let template: CertificateTemplate?
    let signatureAlgorithm: CertificateTemplate.SignatureAlgorithm?

    /// Joins a certificate and a key. Whether they belong together is not checked.
    /// - Throws: `MintError.malformedCertificate`.
    public init(certificate: [UInt8], privateKey: SigningKey) throws {
        try self.init(certificate: certificate, privateKey: privateKey, template: nil)
    }

    /// The certificate as PEM text.
    public var pem: String {
        let base64 = Data(certificate).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
    }
}

extension SigningIdentity {
    /// Mints the certificate for a key.
    init(_ template: CertificateTemplate, key: SigningKey, issuerKey: SigningKey) throws {
        let certificate = try template.signed(by: issuerKey, publicKeyInfo: key.publicKeyInfo)
        try self.init(certificate: certificate, privateKey: key, template: template)
    }

    private init(
        certificate: [UInt8],
        privateKey: SigningKey,
        template: CertificateTemplate?
    ) throws {
        let fields = try CertificateFields(certificate)
        self.certificate = certificate
        self.privateKey = privateKey
        self.template = template
        subject = fields.subject
        issuer = fields.issuer
        serialNumber = fields.serialNumber
        notBefore = fields.notBefore
        notAfter = fields.notAfter
        signatureAlgorithm = fields.signatureAlgorithm
    }
}
