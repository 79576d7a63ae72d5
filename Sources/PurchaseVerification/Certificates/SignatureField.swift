/// The signature field: one byte version, the RSA signature, four bytes length, and the certificate that signed.
struct SignatureField: Sendable {
    let version: TransactionReceiptVersion
    /// The whole field.
    let bytes: [UInt8]
    /// The range of the leaf certificate, in DER. The receipt does not contain its issuer.
    let certificateRange: Range<Int>

    /// The range of the RSA signature over version byte and purchase-info.
    var signatureRange: Range<Int> { 1..<(1 + version.signatureBytes) }
    /// The leaf certificate.
    var certificate: [UInt8] { Array(bytes[certificateRange]) }

    init(_ bytes: [UInt8]) throws(VerificationError) {
        guard let first = bytes.first else {
            throw VerificationError(.signatureFieldMalformed, expected: "a version", found: "nothing")
        }
        guard let version = TransactionReceiptVersion(rawValue: first) else {
            throw VerificationError(.signatureVersionUnsupported, expected: "2, 3 or 4", found: "\(first)")
        }
        let lengthStart = 1 + version.signatureBytes
        guard bytes.count > lengthStart + 4 else {
            throw VerificationError(
                .signatureFieldMalformed, expected: "more than \(lengthStart + 4) bytes", found: "\(bytes.count)")
        }
        let length = bytes[lengthStart..<(lengthStart + 4)].reduce(0) { $0 << 8 | Int($1) }
        let rest = bytes.count - lengthStart - 4
        guard length == rest else {
            throw VerificationError(
                .signatureFieldMalformed, expected: "a certificate of \(rest) bytes", found: "a length of \(length)")
        }
        self.version = version
        self.bytes = bytes
        certificateRange = (lengthStart + 4)..<bytes.count
    }
}

/// The version of a transaction receipt's signature, which is its first byte and signed with the content.
public enum TransactionReceiptVersion: UInt8, Sendable, CaseIterable {
    /// 2009 to 2016: RSA with 1,024 bit and SHA-1, by a purchase receipt certificate below the iTunes Store authority.
    case two = 2
    /// 2017 to 2020: RSA with 2,048 bit and SHA-1, by a receipt signing certificate below a developer relations
    /// authority.
    case three = 3
    /// Since then: RSA with 2,048 bit and SHA-256, by a receipt signing certificate below a developer relations
    /// authority.
    case four = 4

    /// The length of the signature, and so of the key's modulus.
    var signatureBytes: Int { self == .two ? 128 : 256 }

    var digestAlgorithm: DigestAlgorithm { self == .four ? .sha256 : .sha1 }

    /// The authorities that may have issued the leaf.
    var issuingRole: IssuingAuthority.Role { self == .two ? .iTunesStore : .developerRelations }

    /// The marker extension that the leaf must carry.
    var leafMarker: [UInt8] {
        self == .two ? ObjectIdentifier.purchaseReceiptMarker : ObjectIdentifier.receiptSigningMarker
    }

    func isMarked(_ leaf: Certificate) -> Bool {
        self == .two ? leaf.extensions.hasPurchaseReceiptMarker : leaf.extensions.hasReceiptSigningMarker
    }
}
