/// The outer property list of a transaction receipt: the signed content, and the signature over it.
struct TransactionReceiptContainer: Sendable {
    let signature: SignatureField
    /// The decoded `purchase-info`: the signed bytes.
    let purchaseInfo: [UInt8]
    private let list: PropertyList

    /// The fields beside them, which are not signed.
    var unsigned: [(key: String, value: String)] {
        list.entries.compactMap { entry in
            let isSigned = list.holds("signature", at: entry.key) || list.holds("purchase-info", at: entry.key)
            return isSigned ? nil : (list.text(entry.key), list.text(entry.value))
        }
    }

    /// `environment`, which only receipts of the sandbox have.
    var unsignedEnvironment: AppStoreEnvironment? { list.text("environment").map { AppStoreEnvironment($0) } }

    /// - Throws: the codes of `PropertyList`, `transaction_receipt_field_missing`, `transaction_receipt_field_unknown`,
    ///   `signature_field_malformed`, `signature_version_unsupported`, `purchase_info_malformed`.
    init(_ bytes: [UInt8]) throws(VerificationError) {
        let list = try PropertyList(bytes)
        // Fields at this level are not signed, so a field here must not look like a signed one.
        try Self.requireKnownKeys(list)
        guard let signature = list.value("signature") else {
            throw VerificationError(.transactionReceiptFieldMissing, expected: "signature")
        }
        guard let purchaseInfo = list.value("purchase-info") else {
            throw VerificationError(.transactionReceiptFieldMissing, expected: "purchase-info")
        }
        let slice = bytes[...]
        guard let signatureBytes = Base64Decoder.decode(slice.span.extracting(signature)) else {
            throw VerificationError(.signatureFieldMalformed, expected: "base64")
        }
        self.signature = try SignatureField(signatureBytes)
        guard let decoded = Base64Decoder.decode(slice.span.extracting(purchaseInfo)), !decoded.isEmpty else {
            throw VerificationError(.purchaseInfoMalformed, expected: "base64 of a property list")
        }
        self.purchaseInfo = decoded
        self.list = list
    }

    private static func requireKnownKeys(_ list: PropertyList) throws(VerificationError) {
        for entry in list.entries where !isKnown(entry.key, list) {
            throw VerificationError(.transactionReceiptFieldUnknown, found: list.text(entry.key))
        }
    }

    private static let knownKeys: [StaticString] = [
        "signature", "purchase-info", "pod", "signing-status", "environment",
    ]

    private static func isKnown(_ key: Range<Int>, _ list: PropertyList) -> Bool {
        for known in knownKeys where list.holds(known, at: key) { return true }
        return false
    }
}

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
    /// 2017 to 2020: RSA with 2,048 bit and SHA-1, by a receipt signing certificate below a developer relations authority.
    case three = 3
    /// Since then: RSA with 2,048 bit and SHA-256, by a receipt signing certificate below a developer relations authority.
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
