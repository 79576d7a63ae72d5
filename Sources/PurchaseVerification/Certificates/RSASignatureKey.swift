#if canImport(CryptoKit)
    import CryptoKit
    import Foundation
    import Security

    /// An RSA key as Apple's Security framework checks signatures with it: CryptoKit has no RSA.
    ///
    /// Unchecked, because Security's keys do not change and are used from any thread.
    struct RSASignatureKey: @unchecked Sendable {
        private let key: SecKey

        /// `nil` if the key is not usable. The caller has checked its size and its exponent.
        init?(_ bytes: Span<UInt8>, pkcs1: Range<Int>, subjectPublicKeyInfo _: Range<Int>) {
            let attributes: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeRSA, kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
            ]
            // Security reads RSAPublicKey (RFC 8017, A.1.1), without the SubjectPublicKeyInfo around it.
            guard
                let key = SecKeyCreateWithData(
                    Data(bytes.copy(pkcs1)) as CFData, attributes as CFDictionary, nil)
            else { return nil }
            self.key = key
        }

        /// Whether the signature is RSASSA-PKCS1-v1_5 by this key over this digest.
        func isValid(_ signature: Span<UInt8>, for digest: MessageDigest) -> Bool {
            let (algorithm, hash) = Self.input(digest)
            return SecKeyVerifySignature(
                key, algorithm, hash as CFData, Data(signature.copy(0..<signature.count)) as CFData, nil)
        }

        private static func input(_ digest: MessageDigest) -> (SecKeyAlgorithm, Data) {
            switch digest {
            case .sha1(let digest): (.rsaSignatureDigestPKCS1v15SHA1, Data(digest))
            case .sha256(let digest): (.rsaSignatureDigestPKCS1v15SHA256, Data(digest))
            case .sha384(let digest): (.rsaSignatureDigestPKCS1v15SHA384, Data(digest))
            case .sha512(let digest): (.rsaSignatureDigestPKCS1v15SHA512, Data(digest))
            }
        }
    }
#else
    import Crypto
    import CryptoExtras

    /// An RSA key as swift-crypto checks signatures with it.
    struct RSASignatureKey: Sendable {
        private let key: _RSA.Signing.PublicKey

        /// `nil` if the key is not usable. The caller has checked its size and its exponent.
        init?(_ bytes: Span<UInt8>, pkcs1 _: Range<Int>, subjectPublicKeyInfo: Range<Int>) {
            // The other initialiser would refuse 1,024 bits.
            guard let key = try? _RSA.Signing.PublicKey(unsafeDERRepresentation: bytes.copy(subjectPublicKeyInfo))
            else { return nil }
            self.key = key
        }

        /// Whether the signature is RSASSA-PKCS1-v1_5 by this key over this digest.
        func isValid(_ signature: Span<UInt8>, for digest: MessageDigest) -> Bool {
            let signature = signature.withUnsafeBytes { _RSA.Signing.RSASignature(rawRepresentation: $0) }
            return switch digest {
            case .sha1(let digest): key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
            case .sha256(let digest): key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
            case .sha384(let digest): key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
            case .sha512(let digest): key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
            }
        }
    }
#endif
