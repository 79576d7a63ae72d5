/// Everything that determines a receipt, before it is signed. Faults change it.
struct ReceiptPlan {
    var template: AppReceiptTemplate
    var options: SigningOptions
    var authority: CertificateAuthority
    var contentType = KnownOID.data
    var messageDigest = MessageDigest.right

    enum MessageDigest {
        case right, missing, wrong
    }

    /// The content octets of eContent, which are signed.
    var content: [UInt8] {
        let payload = options.payload ?? template.payload()
        return options.wrapsPayloadTwice ? DER.octetString(payload) : payload
    }

    /// The certificates that travel along.
    var certificates: [[UInt8]] {
        options.embeddedCertificates
            ?? options.certificates.map { certificate in
                switch certificate {
                case .leaf: authority.leaf.certificate
                case .intermediate: authority.intermediate.certificate
                case .root: authority.root.certificate
                }
            }
    }

    /// Signs.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    func message() throws -> SignedMessage {
        let content = content
        let attributes = options.signedAttributes ? signedAttributes(content) : nil
        let key = options.signerKey ?? authority.leaf.privateKey
        // Signed attributes are signed with the tag of a SET (RFC 5652, 5.4).
        let signedBytes = attributes.map(DER.set) ?? content
        let signer = SignedMessage.Signer(
            issuer: options.signerIssuer ?? authority.leaf.issuer,
            serialNumber: options.signerSerialNumber ?? authority.leaf.serialNumber,
            digestAlgorithm: options.digest.algorithmIdentifier, signedAttributes: attributes,
            signatureAlgorithm: options.signatureAlgorithmIdentifier,
            signature: try key.signature(of: signedBytes, digest: options.digest))
        return SignedMessage(
            digestAlgorithms: [options.digest.algorithmIdentifier], contentType: contentType, content: content,
            certificates: certificates, signers: [signer], encoding: options.encoding, pieceLength: options.pieceLength)
    }

    private func signedAttributes(_ content: [UInt8]) -> [[UInt8]] {
        var digest = options.digest.hash(content)
        if messageDigest == .wrong { digest[0] ^= 0x01 }
        var attributes = [DER.sequence(KnownOID.contentType.der, DER.set([contentType.der]))]
        if messageDigest != .missing {
            attributes.append(DER.sequence(KnownOID.messageDigest.der, DER.set([DER.octetString(digest)])))
        }
        return DER.sorted(attributes)
    }
}

/// The form of the signature and the container. The defaults are those of Apple's receipts today.
public struct SigningOptions: Sendable {
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

/// A CMS SignedPayload message (RFC 5652, 5.1), as free as its parts allow.
struct SignedMessage {
    /// AlgorithmIdentifiers.
    var digestAlgorithms: [[UInt8]]
    /// Writes the length of the digest algorithms with an octet too many.
    var padsLength = false
    var contentType: CertificateTemplate.OID
    /// The content octets of eContent.
    var content: [UInt8]
    /// Written in this order, as Apple does, though DER would sort them; nil leaves the field out.
    var certificates: [[UInt8]]?
    var signers: [Signer]
    var encoding: SigningOptions.Encoding
    var pieceLength: Int?

    /// A SignerInfo (RFC 5652, 5.3).
    struct Signer {
        var issuer: CertificateTemplate.Name
        /// Content octets.
        var serialNumber: [UInt8]
        var digestAlgorithm: [UInt8]
        /// Elements of the SET; nil leaves the field out.
        var signedAttributes: [[UInt8]]?
        var signatureAlgorithm: [UInt8]
        var signature: [UInt8]
    }

    /// The whole ContentInfo.
    func encoded() -> [UInt8] {
        let digestSet = digestAlgorithms.flatMap { $0 }
        var parts: [[UInt8]] = [
            DER.integer(1),
            padsLength ? DER.paddedElement(DER.Tag.set, digestSet) : DER.element(DER.Tag.set, digestSet),
            layer(DER.Tag.sequence, contentType.der + layer(0xA0, contentOctetString)),
        ]
        if let certificates { parts.append(DER.context(0, certificates.flatMap { $0 })) }
        parts.append(DER.set(signers.map(\.der)))
        let signedData = layer(DER.Tag.sequence, parts.flatMap { $0 })
        return layer(DER.Tag.sequence, KnownOID.signedData.der + layer(0xA0, signedData))
    }

    private func layer(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch encoding {
        case .der: DER.element(tag, content)
        case .xcodeBER: DER.indefiniteElement(tag, content)
        }
    }

    private var contentOctetString: [UInt8] {
        guard case .xcodeBER = encoding else { return DER.octetString(content) }
        let length = max(1, pieceLength ?? content.count)
        let pieces = stride(from: 0, to: content.count, by: length).flatMap { start in
            DER.octetString(Array(content[start..<min(start + length, content.count)]))
        }
        return DER.indefiniteElement(DER.Tag.constructedOctetString, pieces)
    }
}

extension SignedMessage.Signer {
    fileprivate var der: [UInt8] {
        var parts = [
            DER.integer(1),
            DER.sequence(issuer.der, DER.element(DER.Tag.integer, serialNumber)),
            digestAlgorithm,
        ]
        if let signedAttributes { parts.append(DER.context(0, signedAttributes.flatMap { $0 })) }
        parts += [signatureAlgorithm, DER.octetString(signature)]
        return DER.sequence(parts)
    }
}
