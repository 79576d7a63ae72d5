/// How a receipt is signed and wrapped. The defaults make what Apple makes today.
public struct SigningOptions: Sendable {
    /// The digest of the signature.
    public var digest = ReceiptDigest.sha256
    /// How the signature algorithm is named.
    public var signatureAlgorithm = SignatureAlgorithmName.rsaEncryption
    /// Signs attributes (content type and message digest) instead of the payload itself, as Apple's receipts never do.
    public var signedAttributes = false
    /// The encoding rules of the layers around the payload.
    public var encoding = Encoding.der
    /// With `xcodeBER`: the most octets of payload in one piece; nil writes a single piece, as all that were seen.
    public var pieceLength: Int?
    /// Puts the payload into one OCTET STRING more. What is signed is then that OCTET STRING, tag and length included.
    public var wrapsPayloadTwice = false
    /// Which certificates travel with the receipt, and in what order.
    public var certificates: [Certificate] = [.leaf, .intermediate, .root]
    /// The DER certificates to embed instead, any of them.
    public var embeddedCertificates: [[UInt8]]?
    /// The payload to sign instead of the template's.
    public var payload: [UInt8]?
    /// The issuer to name in place of the leaf's.
    public var signerIssuer: CertificateTemplate.Name?
    /// The content octets of the serial number to name in place of the leaf's.
    public var signerSerialNumber: [UInt8]?
    /// The key to sign with in place of the leaf's.
    public var signerKey: SigningKey?

    /// What Apple makes today.
    public init() {}

    /// What Xcode makes: BER, and the signature algorithm named together with its digest.
    public static var xcode: SigningOptions {
        var options = SigningOptions()
        options.encoding = .xcodeBER
        options.signatureAlgorithm = .digestWithRSA
        return options
    }

    /// The ways to name the signature algorithm in a SignerInfo.
    public enum SignatureAlgorithmName: Sendable {
        /// `rsaEncryption`, as in Apple's receipts; the digest is named beside it.
        case rsaEncryption
        /// `sha256WithRSAEncryption` and its like, as in newer receipts of Xcode.
        case digestWithRSA
        /// `ecdsa-with-SHA256` and its like, for an elliptic `signerKey`.
        case digestWithECDSA
    }

    /// The encoding rules.
    public enum Encoding: Sendable {
        /// Definite lengths, as short as can be: what the App Store writes.
        case der
        /// Indefinite lengths around the payload, and the payload in a constructed OCTET STRING: what Xcode writes.
        case xcodeBER
    }

    /// A certificate of the authority.
    public enum Certificate: CaseIterable, Sendable {
        /// The signer, the authority above it, and the trust anchor.
        case leaf, intermediate, root
    }
}

extension SigningOptions {
    var signatureAlgorithmIdentifier: [UInt8] {
        switch signatureAlgorithm {
        case .rsaEncryption: DER.sequence(KnownOID.rsaEncryption.der, DER.null)
        case .digestWithRSA: digest.withRSA.der
        case .digestWithECDSA: digest.withECDSA.der
        }
    }
}
