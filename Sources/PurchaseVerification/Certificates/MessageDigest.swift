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
