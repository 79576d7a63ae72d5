/// The offsets of the two signed attributes that CMS requires (RFC 5652, 11.1 and 11.2).
struct SignedAttributes {
    private var contentType: Range<Int>?
    private var messageDigest: Range<Int>?

    init(_ bytes: Span<UInt8>, _ content: Range<Int>) throws(VerificationError) {
        var attributes = DERCursor(content)
        var count = 0
        while !attributes.isAtEnd {
            count += 1
            guard count <= VerificationBudget.attributes else {
                throw VerificationError(.signedAttributesMalformed, found: "more than \(count - 1) attributes")
            }
            var attribute = DERCursor(try attributes.next(DERTag.sequence, bytes).content)
            let type = try attribute.next(DERTag.objectIdentifier, bytes).content
            var values = DERCursor(try attribute.next(DERTag.set, bytes).content)
            try attribute.finish()
            let isContentType = bytes.holds(ObjectIdentifier.contentType, at: type)
            guard isContentType || bytes.holds(ObjectIdentifier.messageDigest, at: type) else { continue }
            guard (isContentType ? contentType : messageDigest) == nil else {
                throw VerificationError(.signedAttributesMalformed, found: "the same attribute twice")
            }
            let value = try values.next(isContentType ? DERTag.objectIdentifier : DERTag.octetString, bytes).content
            guard values.isAtEnd else {
                throw VerificationError(.signedAttributesMalformed, found: "an attribute with two values")
            }
            if isContentType { contentType = value } else { messageDigest = value }
        }
    }

    /// Checks that the attributes describe this content.
    func require(_ digest: MessageDigest, _ bytes: Span<UInt8>) throws(VerificationError) {
        guard let contentType, let messageDigest else {
            throw VerificationError(.signedAttributesMalformed, expected: "content type and message digest")
        }
        guard bytes.holds(ObjectIdentifier.data, at: contentType) else {
            throw VerificationError(
                .contentTypeMismatch, expected: ObjectIdentifier.dotted(ObjectIdentifier.data),
                found: ObjectIdentifier.dotted(bytes.shown(contentType)))
        }
        guard digest.equals(bytes.copy(messageDigest)) else {
            throw VerificationError(.messageDigestMismatch)
        }
    }

    /// The header of a SET of this length, in DER.
    static func setHeader(length: Int) -> [UInt8] {
        guard length >= 0x80 else { return [DERTag.set, UInt8(length)] }
        let count = (Int.bitWidth - length.leadingZeroBitCount + 7) / 8
        return [DERTag.set, 0x80 | UInt8(count)]
            + (0..<count).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
    }
}

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
