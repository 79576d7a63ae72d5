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
            digestAlgorithm: options.digest.algorithmIdentifier,
            signedAttributes: attributes,
            signatureAlgorithm: options.signatureAlgorithmIdentifier,
            signature: try key.signature(of: signedBytes, digest: options.digest)
        )
        return SignedMessage(
            digestAlgorithms: [options.digest.algorithmIdentifier],
            contentType: contentType,
            content: content,
            certificates: certificates,
            signers: [signer],
            encoding: options.encoding,
            pieceLength: options.pieceLength
        )
    }

    private func signedAttributes(_ content: [UInt8]) -> [[UInt8]] {
        var digest = options.digest.hash(content)
        if messageDigest == .wrong {
            digest[0] ^= 0x01
        }
        var attributes = [DER.sequence(KnownOID.contentType.der, DER.set([contentType.der]))]
        if messageDigest != .missing {
            attributes.append(DER.sequence(KnownOID.messageDigest.der, DER.set([DER.octetString(digest)])))
        }
        return DER.sorted(attributes)
    }
}
