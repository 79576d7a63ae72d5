/// The form of the signature and the container. The defaults are those of Apple's receipts today.
public struct SigningOptions: Sendable {
    /// The digest of the signature.
    public var digest = ReceiptDigest.sha256
    public var signatureAlgorithm = SignatureAlgorithmName.rsaEncryption
    /// Signs attributes (content type and message digest) instead of the payload itself, as Apple's receipts never do.
    public var signedAttributes = false
    /// The encoding rules of the layers around the payload.
    public var encoding = Encoding.der
    /// With `xcodeBER`: the maximum number of payload octets in one piece; nil writes a single piece, as in all
    /// receipts seen.
    public var pieceLength: Int?
    /// Wraps the payload in one more OCTET STRING. The signature then covers that OCTET STRING, tag and length
    /// included.
    public var wrapsPayloadTwice = false
    /// The embedded certificates and their order.
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

    /// The form of Apple's receipts today.
    public init() {}

    /// The form of Xcode's receipts: BER, and a signature algorithm that includes its digest.
    public static var xcode: SigningOptions {
        var options = SigningOptions()
        options.encoding = .xcodeBER
        options.signatureAlgorithm = .digestWithRSA
        return options
    }

    /// The ways to name the signature algorithm in a SignerInfo.
    public enum SignatureAlgorithmName: Sendable {
        /// `rsaEncryption`, as in Apple's receipts; the digest is named separately.
        case rsaEncryption
        /// `sha256WithRSAEncryption` and its like, as in newer receipts of Xcode.
        case digestWithRSA
        /// `ecdsa-with-SHA256` and its like, for an elliptic `signerKey`.
        case digestWithECDSA
    }

    /// The encoding rules.
    public enum Encoding: Sendable {
        /// Minimal definite lengths, as the App Store writes them.
        case der
        /// Indefinite lengths around the payload, and the payload in a constructed OCTET STRING, as Xcode writes them.
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
