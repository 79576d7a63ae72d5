/// What a client may hand in, recognised by its form alone.
public enum EvidenceKind: String, Sendable, CaseIterable {
    /// PKCS#7 around a set of attributes.
    case appReceipt = "app_receipt"
    /// The property list of iOS 6 and earlier.
    case transactionReceipt = "transaction_receipt"
    /// Three segments of base64 with a JSON header: what StoreKit 2 and the App Store server sign.
    case signedData = "signed_data"
}

/// Evidence with its text encoding taken off.
public struct Evidence: Sendable {
    /// What it is.
    public let kind: EvidenceKind
    /// What it is written in: bare bytes, or a text encoding by name.
    public let encoding: Encoding
    /// The bytes without their text encoding; those of a compact JWS are its text.
    public let bytes: [UInt8]

    /// How the evidence was written down.
    public enum Encoding: String, Sendable {
        case bare
        case base64
        /// With line breaks or other white space in it.
        case base64WithWhiteSpace = "base64 with line breaks"
        /// With `-` and `_` for `+` and `/` (RFC 4648, 5).
        case base64URL = "base64url"
        /// With spaces where a form post turned each `+` into one.
        case base64FormDecoded = "base64 with its plus signs turned into spaces"
        /// Compact JWS.
        case compactJWS = "compact JWS"
    }

    /// Recognises evidence and takes its encoding off.
    ///
    /// - Throws: `evidence_empty`, `evidence_too_large`, `evidence_unrecognized`, `base64_malformed`.
    public init(_ evidence: [UInt8]) throws(VerificationError) {
        guard evidence.count <= VerificationBudget.evidenceBytes else {
            throw VerificationError(
                .evidenceTooLarge, expected: "at most \(VerificationBudget.evidenceBytes) bytes",
                found: "\(evidence.count)")
        }
        if AppReceiptContainer.isRecognized(evidence), !Base64Text.isText(evidence[...]) {
            (kind, encoding, bytes) = (.appReceipt, .bare, evidence)
            return
        }
        let text = Base64Text.trimmed(evidence)
        guard let first = text.first else { throw VerificationError(.evidenceEmpty) }
        if first == UInt8(ascii: "{") {
            (kind, encoding, bytes) = (.transactionReceipt, .bare, evidence)
            return
        }
        if CompactJWS.isRecognized(text) {
            (kind, encoding, bytes) = (.signedData, .compactJWS, evidence)
            return
        }
        guard Base64Text.isText(text) else {
            throw VerificationError(
                .evidenceUnrecognized, expected: "a receipt or signed data",
                found: "bytes that begin with \(hexadecimal(text.prefix(4)))")
        }
        (bytes, encoding) = try Base64Text.decode(text)
        switch bytes.first {
        case DERTag.sequence: kind = .appReceipt
        case UInt8(ascii: "{"): kind = .transactionReceipt
        case nil: throw VerificationError(.evidenceEmpty)
        default:
            throw VerificationError(
                .evidenceUnrecognized, expected: "a receipt or signed data",
                found: "base64 of bytes that begin with \(hexadecimal(bytes.prefix(4)))")
        }
    }

    /// The bytes, if they are an app receipt's.
    func appReceiptBytes() throws(VerificationError) -> [UInt8] {
        switch kind {
        case .appReceipt: return bytes
        case .signedData: throw VerificationError(.jwsInsteadOfReceipt)
        case .transactionReceipt:
            throw VerificationError(.evidenceUnsupported, expected: "an app receipt", found: kind.rawValue)
        }
    }
}

/// The form of compact JWS (RFC 7515, 7.1): three segments, the first of which is base64url of a JSON object.
enum CompactJWS {
    static func isRecognized(_ text: ArraySlice<UInt8>) -> Bool {
        // `eyJ` is how base64 of `{"` begins.
        text.starts(with: "eyJ".utf8) && text.count { $0 == UInt8(ascii: ".") } == 2
    }
}
