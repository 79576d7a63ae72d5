/// The accepted signature algorithms of certificates. SHA-1 is accepted only because Apple's receipt chains used it
/// until 2024, and clients still send those receipts. MD5 and all others are refused.
enum CertificateSignatureAlgorithm: String, Sendable, CaseIterable {
    case sha1WithRSAEncryption
    case sha256WithRSAEncryption
    case sha384WithRSAEncryption
    case sha512WithRSAEncryption
    case ecdsaWithSHA256
    case ecdsaWithSHA384

    var isRSA: Bool {
        switch self {
        case .ecdsaWithSHA256, .ecdsaWithSHA384: false
        default: true
        }
    }

    var digestAlgorithm: DigestAlgorithm {
        switch self {
        case .sha1WithRSAEncryption: .sha1
        case .sha256WithRSAEncryption, .ecdsaWithSHA256: .sha256
        case .sha384WithRSAEncryption, .ecdsaWithSHA384: .sha384
        case .sha512WithRSAEncryption: .sha512
        }
    }

    var objectIdentifier: [UInt8] {
        switch self {
        case .sha1WithRSAEncryption: ObjectIdentifier.sha1WithRSAEncryption
        case .sha256WithRSAEncryption: ObjectIdentifier.sha256WithRSAEncryption
        case .sha384WithRSAEncryption: ObjectIdentifier.sha384WithRSAEncryption
        case .sha512WithRSAEncryption: ObjectIdentifier.sha512WithRSAEncryption
        case .ecdsaWithSHA256: ObjectIdentifier.ecdsaWithSHA256
        case .ecdsaWithSHA384: ObjectIdentifier.ecdsaWithSHA384
        }
    }

    init(_ bytes: Span<UInt8>, algorithmIdentifier: Range<Int>) throws(VerificationError) {
        let (oid, hasUsualParameters) = try AlgorithmIdentifier.read(bytes, algorithmIdentifier)
        for algorithm in Self.allCases where bytes.holds(algorithm.objectIdentifier, at: oid) {
            guard hasUsualParameters else { break }
            self = algorithm
            return
        }
        throw VerificationError(
            .certificateAlgorithmUnsupported, expected: "RSA or ECDSA with SHA-1 or SHA-2",
            found: ObjectIdentifier.dotted(bytes.shown(oid)))
    }
}

/// AlgorithmIdentifier ::= SEQUENCE { algorithm OBJECT IDENTIFIER, parameters ANY OPTIONAL } (RFC 5280, 4.1.1.2).
enum AlgorithmIdentifier {
    /// The offsets of the object identifier, and whether the parameters are NULL or absent.
    static func read(
        _ bytes: Span<UInt8>, _ content: Range<Int>
    ) throws(VerificationError) -> (oid: Range<Int>, hasUsualParameters: Bool) {
        var cursor = DERCursor(content)
        let oid = try cursor.next(DERTag.objectIdentifier, bytes).content
        guard !cursor.isAtEnd else { return (oid, true) }
        let parameters = try cursor.next(bytes)
        try cursor.finish()
        return (oid, parameters.tag == DERTag.null && parameters.content.isEmpty)
    }
}
