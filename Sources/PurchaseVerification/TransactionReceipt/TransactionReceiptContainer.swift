import TextFormats

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
