#if !canImport(CryptoKit)
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
