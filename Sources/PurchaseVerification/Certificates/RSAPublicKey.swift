/// An RSA key with the exponent 65,537, decoded once and kept for many signatures. It has 2,048 to 4,096 bits, unless
/// the caller names another size: the transaction receipts of 2009 to 2016 are signed with 1,024.
struct RSAPublicKey: Sendable {
    private let key: RSASignatureKey
    /// The length of the modulus, and so of each signature.
    let modulusBytes: Int

    /// - Parameters:
    ///   - pkcs1: the position of RSAPublicKey ::= SEQUENCE { modulus, publicExponent } (RFC 8017, A.1.1).
    ///   - whole: the SubjectPublicKeyInfo around it.
    init(
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
