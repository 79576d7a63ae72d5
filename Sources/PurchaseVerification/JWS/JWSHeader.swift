import TextFormats

/// The JOSE header of signed data (RFC 7515, 4), as far as it is used: the algorithm, which must be ES256, and the
/// certificates. Keys, URLs of keys and key identifiers in it are ignored.
struct JWSHeader: Sendable {
    /// The certificates of `x5c`, in their order: leaf, intermediate, root.
    let certificates: [[UInt8]]
    /// Whether the header is written exactly as Apple writes it, and so has one spelling.
    let isCanonical: Bool

    /// - Throws: `jws_header_malformed`, `jws_algorithm_unsupported`, `jws_header_unsupported`, `certificates_missing`,
    ///   `jws_certificate_count_unsupported`.
    init(_ json: [UInt8]) throws(VerificationError) {
        let algorithm: String?
        let chain: [String]?
        let hasCritical: Bool
        do throws(VerificationError) {
            var fields = try ClaimReader(json)
            algorithm = try fields.claim("alg")
            chain = try fields.claim("x5c")
            hasCritical = fields.has("crit")
        } catch {
            throw VerificationError(.jwsHeaderMalformed, expected: error.expected)
        }
        guard let algorithm, algorithm.isSame(as: "ES256") else {
            throw VerificationError(.jwsAlgorithmUnsupported, expected: "ES256", found: algorithm ?? "none at all")
        }
        // A critical header parameter must be understood (RFC 7515, 4.1.11). The verifier understands none, so each is
        // refused.
        guard !hasCritical else {
            throw VerificationError(.jwsHeaderUnsupported, expected: "no crit", found: "crit")
        }
        guard let texts = chain, !texts.isEmpty else {
            throw VerificationError(.certificatesMissing, expected: "x5c")
        }
        guard texts.count == 3 || texts.count == 1 else {
            throw VerificationError(
                .jwsCertificateCountUnsupported, expected: "3 certificates", found: "\(texts.count)")
        }
        var certificates: [[UInt8]] = []
        for text in texts {
            // Standard base64 here, unlike everywhere else in a JWS (RFC 7515, 4.1.6).
            guard let certificate = Base64Decoder.decode(Array(text.utf8)), !certificate.isEmpty else {
                throw VerificationError(.jwsHeaderMalformed, expected: "base64 in x5c")
            }
            certificates.append(certificate)
        }
        self.certificates = certificates
        isCanonical =
            json == Array(#"{"alg":"ES256","x5c":[\#(texts.map { "\"\($0)\"" }.joined(separator: ","))]}"#.utf8)
    }
}
