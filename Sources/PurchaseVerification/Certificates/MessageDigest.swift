#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// A computed digest, ready to be compared or checked against a signature.
enum MessageDigest {
    case sha1(Insecure.SHA1Digest)
    case sha256(SHA256Digest)
    case sha384(SHA384Digest)
    case sha512(SHA512Digest)

    /// The digest of a prefix and of the bytes between the offsets, which must be in the span.
    init(_ algorithm: DigestAlgorithm, prefix: [UInt8] = [], _ bytes: Span<UInt8>, _ range: Range<Int>) {
        switch algorithm {
        case .sha1: self = .sha1(Self.hash(Insecure.SHA1.self, prefix, bytes, range))
        case .sha256: self = .sha256(Self.hash(SHA256.self, prefix, bytes, range))
        case .sha384: self = .sha384(Self.hash(SHA384.self, prefix, bytes, range))
        case .sha512: self = .sha512(Self.hash(SHA512.self, prefix, bytes, range))
        }
    }

    private static func hash<Function: HashFunction>(
        _ function: Function.Type, _ prefix: [UInt8], _ bytes: Span<UInt8>, _ range: Range<Int>
    ) -> Function.Digest {
        var function = Function()
        if !prefix.isEmpty { function.update(data: prefix) }
        bytes.extracting(range).withUnsafeBytes { function.update(bufferPointer: $0) }
        return function.finalize()
    }

    /// Whether the digest is exactly these bytes, in constant time.
    func equals(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .sha1(let digest): digest == bytes
        case .sha256(let digest): digest == bytes
        case .sha384(let digest): digest == bytes
        case .sha512(let digest): digest == bytes
        }
    }
}

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
