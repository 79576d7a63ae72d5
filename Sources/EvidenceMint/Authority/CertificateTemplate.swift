public import CryptoExtras
public import Foundation

/// The content of an X.509 certificate. Nothing is checked, so that wrong certificates can be made as well.
///
/// ```swift
/// var template = CertificateTemplate.receiptLeaf
/// template.markers = []
/// let certificate = try template.signed(by: authority.intermediate.privateKey, publicKey: key.publicKey)
/// ```
public struct CertificateTemplate: Sendable {
    /// The number of the version, 1 to 3; nil leaves the field out, which means version 1 (RFC 5280, 4.1.2.1).
    public var version: Int? = 3
    /// The serial number, big-endian. Leading zeros are dropped.
    public var serialNumber: [UInt8]
    /// The algorithm named outside the signed part. Its digest is used for the signature; the issuer's key determines
    /// the kind of signature, so an issuer with an elliptic-curve key needs one of the ECDSA names here.
    public var signatureAlgorithm: SignatureAlgorithm = .sha256WithRSA
    /// The algorithm named inside the signed part; nil repeats the outer one, as RFC 5280, 4.1.1.2 requires.
    public var innerSignatureAlgorithm: SignatureAlgorithm?
    public var issuer: Name
    public var subject: Name
    /// The start of the validity, in whole seconds.
    public var notBefore: Date
    /// The end of the validity, in whole seconds.
    public var notAfter: Date
    /// Basic constraints, critical: authority or not; nil leaves the extension out.
    public var isAuthority: Bool?
    /// The number of authorities allowed below this one; nil sets no limit.
    public var pathLength: Int?
    /// Key usage, critical; nil leaves the extension out.
    public var keyUsage: KeyUsage?
    /// Extended key usage, critical; an empty list leaves the extension out.
    public var extendedKeyUsage: [OID] = []
    /// Extensions that mark a certificate's purpose by their mere presence: not critical, value NULL, as Apple's.
    public var markers: [OID] = []
    /// Any further extensions, last, in this order.
    public var extraExtensions: [Extension] = []
    /// Whether the subject key identifier is written: the SHA-1 of the public key (RFC 5280, 4.2.1.2).
    public var hasSubjectKeyIdentifier = true
    /// Whether the authority key identifier is written: the SHA-1 of the issuer's public key.
    public var hasAuthorityKeyIdentifier = true
    /// Omits the whole extensions field, regardless of the fields above.
    public var omitsExtensions = false
    /// A DER SubjectPublicKeyInfo to certify instead of the key given to `signed`.
    public var publicKeyInfo: [UInt8]?

    /// A certificate of version 3 with no constraints, usages or markers.
    /// - Parameter serialNumber: big-endian.
    public init(issuer: Name, subject: Name, serialNumber: [UInt8], notBefore: Date, notAfter: Date) {
        self.issuer = issuer
        self.subject = subject
        self.serialNumber = serialNumber
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// Signs the certificate.
    /// - Returns: the certificate as DER.
    /// - Throws: the errors of the crypto library if a key cannot sign.
    public func signed(by issuerKey: _RSA.Signing.PrivateKey, publicKey: _RSA.Signing.PublicKey) throws -> [UInt8] {
        try signed(by: .rsa(issuerKey), publicKeyInfo: [UInt8](publicKey.derRepresentation))
    }

    /// Signs the certificate with a key of any kind, for a key of any kind.
    /// - Parameter publicKeyInfo: the DER SubjectPublicKeyInfo of the certified key.
    /// - Returns: the certificate as DER.
    /// - Throws: the errors of the crypto library if a key cannot sign.
    public func signed(by issuerKey: SigningKey, publicKeyInfo: [UInt8]) throws -> [UInt8] {
        let certifiedKey = self.publicKeyInfo ?? publicKeyInfo
        let content = signedPart(publicKeyInfo: certifiedKey, issuerKeyInfo: issuerKey.publicKeyInfo)
        let signature = try issuerKey.signature(of: content, digest: signatureAlgorithm.digest)
        return DER.sequence(content, signatureAlgorithm.der, DER.bitString(signature))
    }
}

extension CertificateTemplate {
    /// The names of signature algorithms (RFC 8017, appendix A.2.4; RFC 5758).
    public enum SignatureAlgorithm: String, CaseIterable, Sendable {
        /// PKCS#1 v1.5 signatures, with NULL parameters
        case sha1WithRSA, sha256WithRSA, sha384WithRSA, sha512WithRSA
        /// ECDSA signatures, without parameters
        case ecdsaWithSHA1, ecdsaWithSHA256, ecdsaWithSHA384, ecdsaWithSHA512
    }

    /// The allowed uses of the key (RFC 5280, 4.2.1.3). Bit 0 of the raw value is bit 0 of the standard.
    public struct KeyUsage: OptionSet, Sendable {
        public let rawValue: UInt16

        /// Any bits, known or not.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Signing data: the use of a leaf that signs receipts.
        public static let digitalSignature = KeyUsage(rawValue: 1 << 0)
        /// Signing data so that the signer cannot deny it later (non-repudiation).
        public static let nonRepudiation = KeyUsage(rawValue: 1 << 1)
        /// Encrypting keys.
        public static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
        /// Encrypting data.
        public static let dataEncipherment = KeyUsage(rawValue: 1 << 3)
        /// Agreeing on keys.
        public static let keyAgreement = KeyUsage(rawValue: 1 << 4)
        /// Signing certificates: the use of an authority.
        public static let certificateSigning = KeyUsage(rawValue: 1 << 5)
        public static let revocationListSigning = KeyUsage(rawValue: 1 << 6)
    }

    /// One extension, any of them.
    public struct Extension: Hashable, Sendable {
        /// The identifier of the extension.
        public var oid: OID
        /// Whether a verifier that does not know it must refuse the certificate.
        public var isCritical: Bool
        /// The content of the extension's OCTET STRING: one DER value in a correct certificate.
        public var value: [UInt8]

        /// An extension with any content.
        public init(oid: OID, isCritical: Bool, value: [UInt8]) {
            (self.oid, self.isCritical, self.value) = (oid, isCritical, value)
        }
    }
}

extension CertificateTemplate {
    /// The name of a subject or an issuer, kept as the DER bytes that certificates and receipts compare.
    public struct Name: Hashable, Sendable {
        /// The whole Name element (RFC 5280, 4.1.2.4).
        public var der: [UInt8]

        /// A name from its DER bytes, unchanged.
        public init(der: [UInt8]) { self.der = der }

        /// A name of up to four parts, in the order in which Apple's receipt certificates have them.
        public init(
            commonName: String, organizationalUnit: String? = nil, organization: String? = nil, country: String? = nil
        ) {
            var parts = [Self.part(KnownOID.commonName, DER.utf8String(commonName))]
            if let organizationalUnit {
                parts.append(Self.part(KnownOID.organizationalUnit, DER.utf8String(organizationalUnit)))
            }
            if let organization { parts.append(Self.part(KnownOID.organization, DER.utf8String(organization))) }
            if let country { parts.append(Self.part(KnownOID.country, DER.printableString(country))) }
            der = DER.sequence(parts)
        }

        private static func part(_ type: OID, _ value: [UInt8]) -> [UInt8] {
            DER.set([DER.sequence(type.der, value)])
        }
    }
}
