/// The digests that a signature may be made over (RFC 5754; SHA-1 because Apple signed receipts with it until August
/// 2024).
enum DigestAlgorithm: String, Sendable, CaseIterable {
    case sha1 = "SHA-1"
    case sha256 = "SHA-256"
    case sha384 = "SHA-384"
    case sha512 = "SHA-512"

    private var objectIdentifier: [UInt8] {
        switch self {
        case .sha1: ObjectIdentifier.sha1
        case .sha256: ObjectIdentifier.sha256
        case .sha384: ObjectIdentifier.sha384
        case .sha512: ObjectIdentifier.sha512
        }
    }

    /// The algorithm of an AlgorithmIdentifier, whose parameters must be NULL or absent (RFC 5754, 2).
    init(_ bytes: Span<UInt8>, algorithmIdentifier: Range<Int>) throws(VerificationError) {
        let (oid, hasUsualParameters) = try AlgorithmIdentifier.read(bytes, algorithmIdentifier)
        for algorithm in Self.allCases where bytes.holds(algorithm.objectIdentifier, at: oid) {
            guard hasUsualParameters else { break }
            self = algorithm
            return
        }
        throw VerificationError(
            .digestAlgorithmUnsupported, expected: "SHA-1 or SHA-2 without parameters",
            found: ObjectIdentifier.dotted(bytes.shown(oid)))
    }
}
