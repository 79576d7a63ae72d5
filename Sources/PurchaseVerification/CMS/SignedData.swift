/// The offsets of a CMS SignedData (RFC 5652, 5.1) with the structure of receipts: version 1, plain data inside, no
/// revocation lists, one signer named by issuer and serial number.
///
///     SignedData ::= SEQUENCE { version, digestAlgorithms SET, encapContentInfo,
///                               certificates [0] OPTIONAL, crls [1] OPTIONAL, signerInfos SET }
struct SignedData {
    /// The content octets that were signed.
    let content: Range<Int>
    /// The embedded certificates, in their order.
    let certificates: [Range<Int>]
    let signer: SignerInfo

    init(_ bytes: Span<UInt8>) throws(VerificationError) {
        var signedData = DERCursor(try Self.contentInfo(bytes))

        let version = try signedData.next(DERTag.integer, bytes).content
        guard try DERInteger.int64(bytes, version) == 1 else {
            throw VerificationError(
                .signedDataVersionUnsupported, expected: "SignedData version 1",
                found: hexadecimal(bytes.shown(version))
            )
        }
        let digestAlgorithms = try signedData.next(DERTag.set, bytes).content
        content = try Self.encapsulatedContent(bytes, try signedData.next(DERTag.sequence, bytes).content)
        certificates = try Self.certificates(bytes, try signedData.nextIf(DERTag.context(0), bytes)?.content)
        let signerInfos = try signedData.next(DERTag.set, bytes).content
        try signedData.finish()

        var signers = DERCursor(signerInfos)
        guard !signers.isAtEnd else {
            throw VerificationError(.signerCountUnsupported, expected: "1 signer", found: "none")
        }
        let signerInfo = try signers.next(DERTag.sequence, bytes).content
        guard signers.isAtEnd else {
            throw VerificationError(.signerCountUnsupported, expected: "1 signer", found: "more")
        }
        signer = try SignerInfo(bytes, signerInfo)
        try Self.requireAnnounced(signer.digestAlgorithm, bytes, digestAlgorithms)
    }

    /// The content of the SignedData inside the outermost ContentInfo, which must be the last element.
    private static func contentInfo(_ bytes: Span<UInt8>) throws(VerificationError) -> Range<Int> {
        var outer = DERCursor(0..<bytes.count)
        guard outer.peek(bytes) == DERTag.sequence else {
            throw VerificationError(.notSignedData, expected: "a SEQUENCE", found: "something else")
        }
        var contentInfo = DERCursor(try outer.next(bytes).content)
        try outer.finish()
        guard contentInfo.peek(bytes) == DERTag.objectIdentifier else {
            throw VerificationError(.notSignedData, expected: "a content type", found: "something else")
        }
        let contentType = try contentInfo.next(DERTag.objectIdentifier, bytes).content
        guard bytes.holds(ObjectIdentifier.signedData, at: contentType) else {
            throw VerificationError(
                .notSignedData, expected: ObjectIdentifier.dotted(ObjectIdentifier.signedData),
                found: ObjectIdentifier.dotted(bytes.shown(contentType)))
        }
        var explicit = DERCursor(try contentInfo.next(DERTag.context(0), bytes).content)
        try contentInfo.finish()
        let signedData = try explicit.next(DERTag.sequence, bytes).content
        try explicit.finish()
        return signedData
    }

    private static func encapsulatedContent(
        _ bytes: Span<UInt8>, _ range: Range<Int>
    ) throws(VerificationError) -> Range<Int> {
        var encapsulated = DERCursor(range)
        let contentType = try encapsulated.next(DERTag.objectIdentifier, bytes).content
        guard bytes.holds(ObjectIdentifier.data, at: contentType) else {
            throw VerificationError(
                .contentTypeUnsupported, expected: ObjectIdentifier.dotted(ObjectIdentifier.data),
                found: ObjectIdentifier.dotted(bytes.shown(contentType)))
        }
        guard !encapsulated.isAtEnd else { throw VerificationError(.contentMissing) }
        var explicit = DERCursor(try encapsulated.next(DERTag.context(0), bytes).content)
        try encapsulated.finish()
        let content = try explicit.next(DERTag.octetString, bytes).content
        try explicit.finish()
        guard !content.isEmpty else { throw VerificationError(.contentMissing) }
        return content
    }

    private static func certificates(
        _ bytes: Span<UInt8>, _ range: Range<Int>?
    ) throws(VerificationError) -> [Range<Int>] {
        guard let range else { throw VerificationError(.certificatesMissing) }
        var certificates: [Range<Int>] = []
        certificates.reserveCapacity(4)
        var cursor = DERCursor(range)
        while !cursor.isAtEnd {
            guard certificates.count < VerificationBudget.certificates else {
                throw VerificationError(
                    .tooManyCertificates, expected: "at most \(VerificationBudget.certificates)", found: "more")
            }
            certificates.append(try cursor.next(DERTag.sequence, bytes).whole)
        }
        guard !certificates.isEmpty else { throw VerificationError(.certificatesMissing) }
        return certificates
    }

    /// The digest algorithm of each signer should be among those of the container (RFC 5652, 5.1); a receipt's always
    /// is.
    private static func requireAnnounced(
        _ algorithm: DigestAlgorithm, _ bytes: Span<UInt8>, _ range: Range<Int>
    ) throws(VerificationError) {
        var announced = DERCursor(range)
        guard !announced.isAtEnd else {
            throw VerificationError(.digestAlgorithmMismatch, expected: algorithm.rawValue, found: "none")
        }
        let only = try DigestAlgorithm(bytes, algorithmIdentifier: try announced.next(DERTag.sequence, bytes).content)
        try announced.finish()
        guard only == algorithm else {
            throw VerificationError(.digestAlgorithmMismatch, expected: algorithm.rawValue, found: only.rawValue)
        }
    }
}
