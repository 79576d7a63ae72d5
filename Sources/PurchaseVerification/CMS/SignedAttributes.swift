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
