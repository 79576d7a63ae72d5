#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// A public key that may be part of a path: RSA, or one of the two curves of Apple's authorities.
enum PublicKey: Sendable {
    case rsa(RSAPublicKey)
    case p256(P256.Signing.PublicKey)
    case p384(P384.Signing.PublicKey)

    /// Reads a whole SubjectPublicKeyInfo (RFC 5280, 4.1.2.7).
    init(
        _ bytes: Span<UInt8>, subjectPublicKeyInfo: Range<Int>,
        rsaModulusBytes: ClosedRange<Int> = VerificationBudget.rsaModulusBytes
    ) throws(VerificationError) {
        var outer = DERCursor(subjectPublicKeyInfo)
        var info = DERCursor(try outer.next(DERTag.sequence, bytes).content)
        let algorithm = try info.next(DERTag.sequence, bytes).content
        let key = try info.next(DERTag.bitString, bytes).content
        try info.finish()
        guard let unusedBits = key.first, bytes[unusedBits] == 0 else {
            throw VerificationError(.publicKeyUnacceptable, found: "a key whose length is not a whole number of bytes")
        }
        let keyBytes = (key.lowerBound + 1)..<key.upperBound

        var identifier = DERCursor(algorithm)
        let oid = try identifier.next(DERTag.objectIdentifier, bytes).content
        if bytes.holds(ObjectIdentifier.rsaEncryption, at: oid) {
            self = .rsa(
                try RSAPublicKey(
                    bytes, pkcs1: keyBytes, whole: subjectPublicKeyInfo, modulusBytes: rsaModulusBytes))
            return
        }
        guard bytes.holds(ObjectIdentifier.ecPublicKey, at: oid) else {
            throw VerificationError(
                .publicKeyUnacceptable, expected: "RSA, P-256 or P-384",
                found: ObjectIdentifier.dotted(bytes.shown(oid)))
        }
        let curve = try identifier.next(DERTag.objectIdentifier, bytes).content
        try identifier.finish()
        let point = bytes.copy(keyBytes)
        do {
            if bytes.holds(ObjectIdentifier.secp256r1, at: curve) {
                self = .p256(try P256.Signing.PublicKey(x963Representation: point))
                return
            }
            if bytes.holds(ObjectIdentifier.secp384r1, at: curve) {
                self = .p384(try P384.Signing.PublicKey(x963Representation: point))
                return
            }
        } catch {
            throw VerificationError(.publicKeyUnacceptable, expected: "a point on the curve")
        }
        throw VerificationError(
            .publicKeyUnacceptable, expected: "P-256 or P-384", found: ObjectIdentifier.dotted(bytes.shown(curve)))
    }

    /// The cost of one signature check with the key, in checks with an RSA key of 2,048 bits. An RSA key of a size in
    /// between weighs as the next larger one in the list: up to 2,048 bits 1, up to 3,072 bits 2, larger 3.
    var signatureCheckWeight: Int {
        switch self {
        case .rsa(let key) where key.modulusBytes <= 256: 1
        case .rsa(let key) where key.modulusBytes <= 384: 2
        case .rsa: 3
        case .p256: 2
        case .p384: 16
        }
    }

    /// Whether a key of this kind makes signatures of the algorithm.
    func fits(_ algorithm: CertificateSignatureAlgorithm) -> Bool {
        switch self {
        case .rsa: algorithm.isRSA
        case .p256, .p384: !algorithm.isRSA
        }
    }

    /// The kind of key, for people.
    var kind: String {
        switch self {
        case .rsa(let key): "RSA \(key.modulusBytes * 8)"
        case .p256: "P-256"
        case .p384: "P-384"
        }
    }
}

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
