/// Compact JWS (RFC 7515, 7.1): header, payload and signature in base64url, with dots between.
struct CompactJWS: Sendable {
    /// The whole text.
    let bytes: [UInt8]
    /// The position of the base64url of the header.
    let header: Range<Int>
    /// The position of the signing input: header, dot and payload (RFC 7515, 5.1).
    let signingInput: Range<Int>
    /// The decoded payload.
    let payload: [UInt8]
    /// The decoded signature: of ES256 it is r and s of 32 bytes each (RFC 7518, 3.4).
    let signature: [UInt8]

    /// - Throws: `evidence_too_large`, `jws_malformed`.
    init(_ bytes: [UInt8]) throws(VerificationError) {
        guard bytes.count <= VerificationBudget.signedPayloadBytes else {
            throw VerificationError(
                .evidenceTooLarge, expected: "at most \(VerificationBudget.signedPayloadBytes) bytes of signed data",
                found: "\(bytes.count)")
        }
        let dot = UInt8(ascii: ".")
        let text = bytes[...]
        guard let first = text.span.offset(of: dot, from: 0) else {
            throw VerificationError(.jwsMalformed, expected: "three segments", found: "1")
        }
        guard let second = text.span.offset(of: dot, from: first + 1) else {
            throw VerificationError(.jwsMalformed, expected: "three segments", found: "2")
        }
        guard text.span.offset(of: dot, from: second + 1) == nil else {
            throw VerificationError(.jwsMalformed, expected: "three segments", found: "more")
        }
        self.bytes = bytes
        header = 0..<first
        signingInput = 0..<second
        payload = try Self.decode(bytes, (first + 1)..<second, "payload")
        // Without an algorithm there is no signature; a missing algorithm is the more useful error.
        let signature = (second + 1)..<bytes.count
        self.signature = signature.isEmpty ? [] : try Self.decode(bytes, signature, "signature")
    }

    func decodedHeader() throws(VerificationError) -> [UInt8] { try Self.decode(bytes, header, "header") }

    /// Whether a text has this form: it begins like base64url of a JSON object, and contains a dot.
    static func isRecognized(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count > 2, text.first == UInt8(ascii: "e") else { return false }
        switch text[text.startIndex + 1] {
        // A brace, and then a quote, a space or a line break.
        case UInt8(ascii: "w")...UInt8(ascii: "z"): return text.span.offset(of: UInt8(ascii: "."), from: 2) != nil
        default: return false
        }
    }

    private static func decode(
        _ bytes: [UInt8], _ range: Range<Int>, _ name: String
    ) throws(VerificationError) -> [UInt8] {
        let segment = bytes[range]
        guard let decoded = Base64URL.decode(segment.span) else {
            throw VerificationError(.jwsMalformed, expected: "base64url without padding as \(name)")
        }
        return decoded
    }
}
