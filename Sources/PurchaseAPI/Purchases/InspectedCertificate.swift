/// A certificate in inspected evidence.
public struct InspectedCertificate: Codable, Sendable, Equatable {
    public var subject: String
    public var issuer: String
    /// Hexadecimal.
    public var serialNumber: String
    public var notBefore: String
    public var notAfter: String
    /// The kind of key, such as `RSA 2048`, or the reason why it is not accepted.
    public var publicKey: String
    public var signatureAlgorithm: String

    /// A certificate by its parts.
    public init(
        subject: String, issuer: String, serialNumber: String, notBefore: String, notAfter: String, publicKey: String,
        signatureAlgorithm: String
    ) {
        self.subject = subject
        self.issuer = issuer
        self.serialNumber = serialNumber
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.publicKey = publicKey
        self.signatureAlgorithm = signatureAlgorithm
    }

    enum CodingKeys: String, CodingKey {
        case subject, issuer
        case serialNumber = "serial_number"
        case notBefore = "not_before"
        case notAfter = "not_after"
        case publicKey = "public_key"
        case signatureAlgorithm = "signature_algorithm"
    }
}
