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

    /// The cost of one signature check with the key, in checks with an RSA key of 2,048 bits. An RSA key of a size in between
    /// weighs as the next larger one in the list: up to 2,048 bits 1, up to 3,072 bits 2, larger 3.
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

/// An RSA key with the exponent 65,537, decoded once and kept for many signatures. It has 2,048 to 4,096 bits, unless
/// the caller names another size: the transaction receipts of 2009 to 2016 are signed with 1,024.
struct RSAPublicKey: Sendable {
    private let key: RSASignatureKey
    /// The length of the modulus, and so of each signature.
    let modulusBytes: Int

    /// - Parameters:
    ///   - pkcs1: the position of RSAPublicKey ::= SEQUENCE { modulus, publicExponent } (RFC 8017, A.1.1).
    ///   - whole: the SubjectPublicKeyInfo around it.
    fileprivate init(
        _ bytes: Span<UInt8>, pkcs1: Range<Int>, whole: Range<Int>, modulusBytes accepted: ClosedRange<Int>
    ) throws(VerificationError) {
        var outer = DERCursor(pkcs1)
        var numbers = DERCursor(try outer.next(DERTag.sequence, bytes).content)
        try outer.finish()
        let modulus = try numbers.next(DERTag.integer, bytes).content
        let exponent = try numbers.next(DERTag.integer, bytes).content
        try numbers.finish()
        try DERInteger.requireMinimal(bytes, modulus)
        let isNegative = bytes[modulus.lowerBound] & 0x80 != 0
        modulusBytes = bytes[modulus.lowerBound] == 0 ? modulus.count - 1 : modulus.count
        guard !isNegative, accepted.contains(modulusBytes) else {
            throw VerificationError(
                .publicKeyUnacceptable,
                expected: "an RSA modulus of \(accepted.lowerBound * 8) to \(accepted.upperBound * 8) bit",
                found: "\(modulusBytes * 8) bit")
        }
        // Every authority and leaf of Apple's uses 65,537; small exponents have a history of forged paddings.
        guard try DERInteger.uint64(bytes, exponent) == 65_537 else {
            throw VerificationError(
                .publicKeyUnacceptable, expected: "the RSA exponent 65537",
                found: "0x\(hexadecimal(bytes.shown(exponent)))")
        }
        guard let key = RSASignatureKey(bytes, pkcs1: pkcs1, subjectPublicKeyInfo: whole) else {
            throw VerificationError(.publicKeyUnacceptable, expected: "a usable RSA key")
        }
        self.key = key
    }

    /// The same for a signature in an array.
    func isValid(_ signature: [UInt8], for digest: MessageDigest) -> Bool {
        let slice = signature[...]
        return isValid(slice.span, for: digest)
    }

    /// Whether the signature is RSASSA-PKCS1-v1_5 by this key over this digest (RFC 8017, 8.2.2).
    func isValid(_ signature: Span<UInt8>, for digest: MessageDigest) -> Bool {
        signature.count == modulusBytes && key.isValid(signature, for: digest)
    }
}
