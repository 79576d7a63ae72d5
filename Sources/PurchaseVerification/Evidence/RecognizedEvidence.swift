import TextFormats

/// Evidence without its text encoding.
public struct RecognizedEvidence: Sendable {
    /// The form by which it was recognised.
    public let form: Form
    /// The encoding: bare bytes, or the name of a text encoding.
    public let encoding: Encoding
    /// The bytes without their text encoding; those of a compact JWS are its text.
    public let bytes: [UInt8]

    /// The three forms in which the App Store signs.
    public enum Form: Sendable {
        case appReceipt
        case transactionReceipt
        /// Only its claims state its kind.
        case compactJWS
    }

    /// The kind; `nil` for signed data whose claims cannot be read. Reading it verifies nothing.
    public var kind: EvidenceKind? {
        switch form {
        case .appReceipt: return .appReceipt
        case .transactionReceipt: return .transactionReceipt
        case .compactJWS:
            do throws(VerificationError) {
                return try EvidenceKind(signedPayload: try CompactJWS(bytes).payload)
            } catch {
                return nil
            }
        }
    }

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
        case compactJWS = "compact JWS"
    }

    /// Recognises evidence and removes its text encoding.
    ///
    /// - Throws: `evidence_empty`, `evidence_too_large`, `evidence_unrecognized`, `base64_malformed`.
    public init(_ evidence: [UInt8]) throws(VerificationError) {
        guard evidence.count <= VerificationBudget.evidenceBytes else {
            throw VerificationError(
                .evidenceTooLarge, expected: "at most \(VerificationBudget.evidenceBytes) bytes",
                found: "\(evidence.count)")
        }
        if AppReceiptContainer.isRecognized(evidence), !Base64Text.isText(evidence[...]) {
            (form, encoding, bytes) = (.appReceipt, .bare, evidence)
            return
        }
        let text = Base64Text.trimmed(evidence)
        guard let first = text.first else { throw VerificationError(.evidenceEmpty) }
        if first == UInt8(ascii: "{") {
            (form, encoding, bytes) = (.transactionReceipt, .bare, Array(text))
            return
        }
        if CompactJWS.isRecognized(text) {
            (form, encoding) = (.compactJWS, .compactJWS)
            bytes = text.count == evidence.count ? evidence : Array(text)
            return
        }
        guard Base64Text.isText(text) else {
            throw VerificationError(
                .evidenceUnrecognized, expected: "a receipt or signed data",
                found: "bytes that begin with \(hexadecimal(text.prefix(4)))")
        }
        guard let (decoded, repair) = Base64Text.decode(text) else {
            throw VerificationError(.base64Malformed, found: "\(text.count) characters that do not decode")
        }
        encoding =
            switch repair {
            case .none: .base64
            case .whiteSpace: .base64WithWhiteSpace
            case .urlAlphabet: .base64URL
            case .formDecoded: .base64FormDecoded
            }
        if decoded.first == DERTag.sequence {
            (form, bytes) = (.appReceipt, decoded)
            return
        }
        let list = Base64Text.trimmed(decoded)
        switch list.first {
        case UInt8(ascii: "{"):
            form = .transactionReceipt
            // Usually there is nothing to trim.
            bytes = list.count == decoded.count ? decoded : Array(list)
        case nil: throw VerificationError(.evidenceEmpty)
        default:
            throw VerificationError(
                .evidenceUnrecognized, expected: "a receipt or signed data", found: Self.description(ofDecoded: list))
        }
    }

    /// A description of bytes that were encoded in base64 and are not evidence. Two common mistakes of senders are
    /// named.
    private static func description(ofDecoded bytes: ArraySlice<UInt8>) -> String {
        // The start of base64 of a SEQUENCE of more than 127 bytes, and of a property list.
        let isReceipt = bytes.starts(with: Array("MI".utf8)) || bytes.starts(with: Array("ew".utf8))
        if isReceipt, Base64Text.isText(bytes) { return "base64 that was encoded in base64 again" }
        if CompactJWS.isRecognized(bytes) { return "a JWS that was encoded in base64" }
        return "base64 of bytes that begin with \(hexadecimal(bytes.prefix(4)))"
    }

    /// The bytes, if they are an app receipt's.
    func appReceiptBytes() throws(VerificationError) -> [UInt8] {
        switch form {
        case .appReceipt: return bytes
        case .compactJWS: throw VerificationError(.jwsInsteadOfReceipt)
        case .transactionReceipt:
            throw VerificationError(.evidenceUnsupported, expected: "an app receipt", found: "a transaction receipt")
        }
    }

    /// The text, if it has the claims of a transaction. Other signed data is refused by the names of its claims, before
    /// a certificate or a signature is checked.
    func signedTransactionBytes() throws(VerificationError) -> [UInt8] {
        guard form == .compactJWS else {
            throw VerificationError(.evidenceUnsupported, expected: "a signed transaction", found: "a receipt")
        }
        let payload = try CompactJWS(bytes).payload
        var kind: EvidenceKind?
        do throws(VerificationError) {
            kind = try EvidenceKind(signedPayload: payload)
        } catch {
            // Claims that cannot be read are a matter of the signature: they may have been edited.
            guard error.code == .claimsUnrecognized else { return bytes }
        }
        guard kind == .signedTransaction else {
            throw VerificationError(
                .jwsInsteadOfReceipt, expected: EvidenceKind.signedTransaction.rawValue,
                found: kind?.rawValue ?? "other claims")
        }
        return bytes
    }
}
