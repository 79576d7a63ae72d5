/// The signature of a SignedData over its content (RFC 5652, 5.4).
enum ContentSignature {
    /// Checks that the signer's key signed exactly this content.
    ///
    /// Without signed attributes the signature is over the content. With them it is over their DER as a SET, and they
    /// must name the content's type and its digest.
    static func verify(
        _ signedData: SignedData, _ bytes: Span<UInt8>, key: PublicKey
    ) throws(VerificationError) {
        let signer = signedData.signer
        let content = MessageDigest(signer.digestAlgorithm, bytes, signedData.content)
        guard let attributes = signer.signedAttributes else {
            return try verify(content, bytes, signer.signature, key: key)
        }
        try SignedAttributes(bytes, attributes).require(content, bytes)
        // The attributes in the SignerInfo have the tag [0]; the signature covers them with the tag of a SET.
        let header = SignedAttributes.setHeader(length: attributes.count)
        let digest = MessageDigest(signer.digestAlgorithm, prefix: header, bytes, attributes)
        try verify(digest, bytes, signer.signature, key: key)
    }

    private static func verify(
        _ digest: MessageDigest, _ bytes: Span<UInt8>, _ signature: Range<Int>, key: PublicKey
    ) throws(VerificationError) {
        guard case .rsa(let key) = key else {
            throw VerificationError(.publicKeyUnacceptable, expected: "an RSA key", found: key.kind)
        }
        guard key.isValid(bytes.extracting(signature), for: digest) else {
            throw VerificationError(.signatureInvalid)
        }
    }
}
