/// A parsed X.509 certificate before any check (RFC 5280, 4.1).
///
/// It is a class because a copied struct of this size costs more than the signature check saves, and because Swift
/// 6.3.1 miscompiles large structs that come out of throwing functions (docs/decisions.md, 6).
final class Certificate: Sendable {
    /// The whole certificate in DER.
    let der: [UInt8]
    /// The offsets of the part that is signed.
    let toBeSigned: Range<Int>
    /// The content octets of the serial number.
    let serialNumber: [UInt8]
    let issuer: DistinguishedName
    let subject: DistinguishedName
    let validity: CertificateValidity
    let publicKey: Result<PublicKey, VerificationError>
    let signatureAlgorithm: CertificateSignatureAlgorithm
    let signature: [UInt8]
    let extensions: CertificateExtensions

    /// Reads one certificate that fills all of the bytes. Its key need not be acceptable yet.
    ///
    /// - Parameter rsaModulusBytes: the acceptable sizes of an RSA key. Only the caller knows the purpose of the key.
    init(
        _ der: [UInt8], rsaModulusBytes: ClosedRange<Int> = VerificationBudget.rsaModulusBytes
    ) throws(VerificationError) {
        guard der.count <= VerificationBudget.certificateBytes else {
            throw VerificationError(
                .certificateMalformed, expected: "at most \(VerificationBudget.certificateBytes) bytes",
                found: "\(der.count)")
        }
        do throws(VerificationError) {
            self.der = der
            let slice = der[...]
            let bytes = slice.span
            var outer = DERCursor(0..<der.count)
            var certificate = DERCursor(try outer.next(DERTag.sequence, bytes).content)
            try outer.finish()
            let toBeSigned = try certificate.next(DERTag.sequence, bytes)
            self.toBeSigned = toBeSigned.whole
            let outerAlgorithm = try certificate.next(DERTag.sequence, bytes).content
            let signature = try certificate.next(DERTag.bitString, bytes).content
            try certificate.finish()

            var fields = DERCursor(toBeSigned.content)
            let version = try fields.nextIf(DERTag.context(0), bytes)?.content
            let isVersion3 = try version.map { range throws(VerificationError) in
                var explicit = DERCursor(range)
                return try DERInteger.int64(bytes, try explicit.next(DERTag.integer, bytes).content) == 2
            }
            let serialNumber = try fields.next(DERTag.integer, bytes).content
            try DERInteger.requireMinimal(bytes, serialNumber)
            self.serialNumber = bytes.copy(serialNumber)
            let innerAlgorithm = try fields.next(DERTag.sequence, bytes).content
            issuer = DistinguishedName(bytes.copy(try fields.next(DERTag.sequence, bytes).whole))
            validity = try CertificateValidity(bytes, try fields.next(DERTag.sequence, bytes).content)
            subject = DistinguishedName(bytes.copy(try fields.next(DERTag.sequence, bytes).whole))
            let key = try fields.next(DERTag.sequence, bytes).whole
            publicKey = Result { () throws(VerificationError) in
                try PublicKey(bytes, subjectPublicKeyInfo: key, rsaModulusBytes: rsaModulusBytes)
            }
            _ = try fields.nextIf(DERTag.contextPrimitive(1), bytes)
            _ = try fields.nextIf(DERTag.contextPrimitive(2), bytes)
            if isVersion3 == true, let explicit = try fields.nextIf(DERTag.context(3), bytes)?.content {
                var cursor = DERCursor(explicit)
                extensions = try CertificateExtensions(bytes, try cursor.next(DERTag.sequence, bytes).content)
                try cursor.finish()
            } else {
                extensions = CertificateExtensions()
            }
            try fields.finish()

            // The signed and the unsigned statement of the algorithm must agree (RFC 5280, 4.1.1.2).
            guard bytes.copy(outerAlgorithm) == bytes.copy(innerAlgorithm) else {
                throw VerificationError(.certificateAlgorithmMismatch, found: "in \(subject)")
            }
            signatureAlgorithm = try CertificateSignatureAlgorithm(bytes, algorithmIdentifier: innerAlgorithm)
            guard let unusedBits = signature.first, bytes[unusedBits] == 0 else {
                throw VerificationError(
                    .certificateMalformed, found: "a signature whose length is not a whole number of bytes")
            }
            self.signature = bytes.copy((signature.lowerBound + 1)..<signature.upperBound)
        } catch let error where error.code.isASN1 {
            throw VerificationError(
                .certificateMalformed, expected: error.expected, found: error.found ?? error.message)
        }
    }

    /// A root issues itself.
    var isSelfIssued: Bool { issuer == subject }

    /// The digest of the part that is signed.
    var digest: MessageDigest {
        let der = der[...]
        return MessageDigest(signatureAlgorithm.digestAlgorithm, der.span, toBeSigned)
    }

    /// Checks that the key of an authority with this name signed this certificate.
    func requireSignature(by key: PublicKey, named issuer: DistinguishedName) throws(VerificationError) {
        try requireSignature(by: key, named: issuer, over: digest)
    }

    /// The same with the certificate's digest, which the caller has computed.
    func requireSignature(
        by key: PublicKey, named issuer: DistinguishedName, over digest: MessageDigest
    ) throws(VerificationError) {
        let isValid: Bool? =
            switch (key, signatureAlgorithm.isRSA) {
            case (.rsa(let key), true): key.isValid(signature, for: digest)
            case (.p256(let key), false): ECDSASignature.isValid(signature, by: key, for: digest)
            case (.p384(let key), false): ECDSASignature.isValid(signature, by: key, for: digest)
            default: nil
            }
        guard let isValid else {
            throw VerificationError(
                .certificateSignatureInvalid, expected: "a signature by \(key.kind)",
                found: signatureAlgorithm.rawValue)
        }
        guard isValid else {
            throw VerificationError(
                .certificateSignatureInvalid, expected: "\(subject) to be signed by \(issuer)")
        }
    }
}

extension ReasonCode {
    /// The codes of the DER reader, which do not name the structure that was being read.
    var isASN1: Bool {
        switch self {
        case .asn1Truncated, .asn1Malformed, .asn1LengthNotMinimal, .asn1IntegerNotMinimal, .trailingBytes: true
        default: false
        }
    }
}
