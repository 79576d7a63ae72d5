public import Crypto
public import CryptoExtras
public import Foundation

/// A certificate and the private key that belongs to it.
public struct SigningIdentity: Sendable {
    /// DER.
    public let certificate: [UInt8]
    public let privateKey: SigningKey
    public let subject: CertificateTemplate.Name
    public let issuer: CertificateTemplate.Name
    /// The content octets of the serial number.
    public let serialNumber: [UInt8]
    public let notBefore: Date
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

    /// The content of the certificate. If it was not made in this process, what cannot be read is as in a standard one.
    func content(_ standard: CertificateTemplate) -> CertificateTemplate { template ?? standard.adopting(self) }

    /// Another certificate for a key.
    /// - Parameter key: nil keeps the key.
    func certified(
        _ standard: CertificateTemplate, key: SigningKey? = nil, by issuerKey: SigningKey,
        _ change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> SigningIdentity {
        var template = content(standard)
        change(&template)
        return try SigningIdentity(template, key: key ?? privateKey, issuerKey: issuerKey)
    }

    private init(certificate: [UInt8], privateKey: SigningKey, template: CertificateTemplate?) throws {
        let fields = try CertificateFields(certificate)
        (self.certificate, self.privateKey, self.template) = (certificate, privateKey, template)
        subject = fields.subject
        issuer = fields.issuer
        serialNumber = fields.serialNumber
        notBefore = fields.notBefore
        notAfter = fields.notAfter
        signatureAlgorithm = fields.signatureAlgorithm
    }
}

/// A private key of any kind that this module signs with.
public enum SigningKey: Sendable {
    /// The kind of key in the whole chain of Apple's receipts.
    case rsa(_RSA.Signing.PrivateKey)
    /// The kind of key in the leaves that sign App Store data.
    case p256(P256.Signing.PrivateKey)
    /// The kind of key in the intermediates and the root above such leaves.
    case p384(P384.Signing.PrivateKey)

    /// A new RSA key with exponent 65537.
    /// - Parameter bits: the size of the modulus, a multiple of 8, from 1024. Apple's receipt keys have 2048.
    /// - Throws: `CryptoKitError` for a smaller size.
    public static func makeRSA(bits: Int = 2048) throws -> SigningKey {
        .rsa(try _RSA.Signing.PrivateKey(unsafeKeySize: _RSA.Signing.KeySize(bitCount: bits)))
    }

    /// A new key on the curve P-256.
    public static func makeP256() -> SigningKey { .p256(P256.Signing.PrivateKey()) }

    /// A new key on the curve P-384.
    public static func makeP384() -> SigningKey { .p384(P384.Signing.PrivateKey()) }

    /// The private half as PEM (PKCS #8, RFC 5958).
    public var pem: String {
        switch self {
        case .rsa(let key): key.pkcs8PEMRepresentation
        case .p256(let key): key.pemRepresentation
        case .p384(let key): key.pemRepresentation
        }
    }

    /// Reads a private key of any of the kinds; nil for anything else.
    public init?(pem: String) {
        // Transaction receipts of version 2 are signed with 1024 bits, which only the unsafe way reads.
        if let key = try? _RSA.Signing.PrivateKey(unsafePEMRepresentation: pem) {
            self = .rsa(key)
        } else if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) {
            self = .p256(key)
        } else if let key = try? P384.Signing.PrivateKey(pemRepresentation: pem) {
            self = .p384(key)
        } else {
            return nil
        }
    }

    /// The public half as a DER SubjectPublicKeyInfo (RFC 5280, 4.1.2.7).
    public var publicKeyInfo: [UInt8] {
        switch self {
        case .rsa(let key): [UInt8](key.publicKey.derRepresentation)
        case .p256(let key): [UInt8](key.publicKey.derRepresentation)
        case .p384(let key): [UInt8](key.publicKey.derRepresentation)
        }
    }

    /// A SubjectPublicKeyInfo for any modulus and exponent, big-endian, even if no private key for it exists.
    public static func rsaPublicKeyInfo(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        DER.sequence(
            DER.sequence(KnownOID.rsaEncryption.der, DER.null),
            DER.bitString(DER.sequence(DER.integer(magnitude: modulus), DER.integer(magnitude: exponent))))
    }
}

extension SigningKey {
    /// Sixteen octets that are unique to the key, positive as RFC 5280, 4.1.2.2 requires.
    var serialNumber: [UInt8] {
        var octets = Array(ReceiptDigest.sha256.hash(publicKeyInfo).prefix(16))
        octets[0] = octets[0] & 0x7F | 0x40
        return octets
    }

    /// A signature over the bytes: PKCS#1 v1.5 (RFC 8017, 8.2), or an ECDSA-Sig-Value (RFC 3279, 2.2.3).
    func signature(of bytes: [UInt8], digest: ReceiptDigest) throws -> [UInt8] {
        switch digest {
        case .sha1: try signature(for: Insecure.SHA1.hash(data: bytes))
        case .sha256: try signature(for: SHA256.hash(data: bytes))
        case .sha384: try signature(for: SHA384.hash(data: bytes))
        case .sha512: try signature(for: SHA512.hash(data: bytes))
        }
    }

    private func signature(for digest: some Digest) throws -> [UInt8] {
        switch self {
        case .rsa(let key): [UInt8](try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
        case .p256(let key): [UInt8](try key.signature(for: digest).derRepresentation)
        case .p384(let key): [UInt8](try key.signature(for: digest).derRepresentation)
        }
    }
}

/// A digest that a receipt or certificate is signed over.
public enum ReceiptDigest: String, CaseIterable, Sendable {
    /// The digest of Apple's signatures until 2024-08.
    case sha1
    /// The digest of Apple's signatures since 2023-06.
    case sha256
    /// Never seen in a receipt.
    case sha384
    /// Never seen in a receipt.
    case sha512
}

extension ReceiptDigest {
    var oid: CertificateTemplate.OID {
        switch self {
        case .sha1: "1.3.14.3.2.26"
        case .sha256: "2.16.840.1.101.3.4.2.1"
        case .sha384: "2.16.840.1.101.3.4.2.2"
        case .sha512: "2.16.840.1.101.3.4.2.3"
        }
    }

    var withRSA: CertificateTemplate.SignatureAlgorithm {
        switch self {
        case .sha1: .sha1WithRSA
        case .sha256: .sha256WithRSA
        case .sha384: .sha384WithRSA
        case .sha512: .sha512WithRSA
        }
    }

    var withECDSA: CertificateTemplate.SignatureAlgorithm {
        switch self {
        case .sha1: .ecdsaWithSHA1
        case .sha256: .ecdsaWithSHA256
        case .sha384: .ecdsaWithSHA384
        case .sha512: .ecdsaWithSHA512
        }
    }

    /// A different digest, for a place that should name this one.
    var another: ReceiptDigest { self == .sha512 ? .sha384 : .sha512 }

    /// The AlgorithmIdentifier, with parameters NULL as Apple writes it.
    var algorithmIdentifier: [UInt8] { DER.sequence(oid.der, DER.null) }

    func hash(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: bytes))
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha384: Array(SHA384.hash(data: bytes))
        case .sha512: Array(SHA512.hash(data: bytes))
        }
    }
}
