#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// ECDSA over the curves of Apple's authorities; the signature is a SEQUENCE of two integers (RFC 3279, 2.2.3).
enum ECDSASignature {
    static func isValid(_ signature: [UInt8], by key: P256.Signing.PublicKey, for digest: MessageDigest) -> Bool {
        // A malformed signature verifies nothing.
        guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
        return switch digest {
        case .sha1: false
        case .sha256(let digest): key.isValidSignature(signature, for: digest)
        case .sha384(let digest): key.isValidSignature(signature, for: digest)
        case .sha512(let digest): key.isValidSignature(signature, for: digest)
        }
    }

    static func isValid(_ signature: [UInt8], by key: P384.Signing.PublicKey, for digest: MessageDigest) -> Bool {
        // A malformed signature verifies nothing.
        guard let signature = try? P384.Signing.ECDSASignature(derRepresentation: signature) else { return false }
        return switch digest {
        case .sha1: false
        case .sha256(let digest): key.isValidSignature(signature, for: digest)
        case .sha384(let digest): key.isValidSignature(signature, for: digest)
        case .sha512(let digest): key.isValidSignature(signature, for: digest)
        }
    }
}
