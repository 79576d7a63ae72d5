/// The offsets of the one SignerInfo of a receipt (RFC 5652, 5.3).
///
///     SignerInfo ::= SEQUENCE { version, sid, digestAlgorithm, signedAttrs [0] OPTIONAL,
///                               signatureAlgorithm, signature, unsignedAttrs [1] OPTIONAL }
struct SignerInfo {
    /// The issuer's name: a whole Name, compared byte for byte with that of the certificate.
    let issuer: Range<Int>
    /// The content octets of the serial number.
    let serialNumber: Range<Int>
    let digestAlgorithm: DigestAlgorithm
    /// The content octets of the signed attributes, if there are any.
    let signedAttributes: Range<Int>?
    let signatureAlgorithm: CMSSignatureAlgorithm
    let signature: Range<Int>

    init(_ bytes: Span<UInt8>, _ content: Range<Int>) throws(VerificationError) {
        var signerInfo = DERCursor(content)
        let version = try signerInfo.next(DERTag.integer, bytes).content
        guard try DERInteger.int64(bytes, version) == 1 else {
            throw VerificationError(
                .signerIdentifierUnsupported, expected: "SignerInfo version 1 (issuer and serial number)",
                found: "version \(hexadecimal(bytes.shown(version)))")
        }
        guard signerInfo.peek(bytes) == DERTag.sequence else {
            throw VerificationError(
                .signerIdentifierUnsupported, expected: "issuer and serial number", found: "another identifier")
        }
        var identifier = DERCursor(try signerInfo.next(bytes).content)
        issuer = try identifier.next(DERTag.sequence, bytes).whole
        serialNumber = try identifier.next(DERTag.integer, bytes).content
        try DERInteger.requireMinimal(bytes, serialNumber)
        try identifier.finish()

        digestAlgorithm = try DigestAlgorithm(
            bytes, algorithmIdentifier: try signerInfo.next(DERTag.sequence, bytes).content)
        signedAttributes = try signerInfo.nextIf(DERTag.context(0), bytes)?.content
        signatureAlgorithm = try CMSSignatureAlgorithm(
            bytes, algorithmIdentifier: try signerInfo.next(DERTag.sequence, bytes).content)
        signature = try signerInfo.next(DERTag.octetString, bytes).content
        // Unsigned attributes are not signed and no receipt has any, so they could only mislead.
        try signerInfo.finish()

        if let named = signatureAlgorithm.digestAlgorithm, named != digestAlgorithm {
            throw VerificationError(
                .signatureAlgorithmMismatch, expected: digestAlgorithm.rawValue, found: named.rawValue)
        }
    }
}

/// RSASSA-PKCS1-v1_5 in the spellings that signers use: Apple's `rsaEncryption`, Xcode's `sha256WithRSAEncryption`
/// (RFC 5754, 3.2, allows both).
struct CMSSignatureAlgorithm {
    /// The digest that the algorithm's name includes, if it includes one.
    let digestAlgorithm: DigestAlgorithm?
    /// The name of the spelling.
    let name: String

    init(_ bytes: Span<UInt8>, algorithmIdentifier: Range<Int>) throws(VerificationError) {
        let (oid, hasUsualParameters) = try AlgorithmIdentifier.read(bytes, algorithmIdentifier)
        if hasUsualParameters {
            if bytes.holds(ObjectIdentifier.rsaEncryption, at: oid) {
                (digestAlgorithm, name) = (nil, "rsaEncryption")
                return
            }
            for algorithm in CertificateSignatureAlgorithm.allCases
            where algorithm.isRSA && bytes.holds(algorithm.objectIdentifier, at: oid) {
                (digestAlgorithm, name) = (algorithm.digestAlgorithm, algorithm.rawValue)
                return
            }
        }
        throw VerificationError(
            .signatureAlgorithmUnsupported, expected: "RSASSA-PKCS1-v1_5",
            found: ObjectIdentifier.dotted(bytes.shown(oid)))
    }
}
