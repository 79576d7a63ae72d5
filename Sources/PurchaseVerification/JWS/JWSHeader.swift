#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The JOSE header of signed data (RFC 7515, 4), as far as it may have a say: the algorithm, which must be ES256, and the
/// certificates. Keys, addresses of keys and names of keys in it are not looked at.
struct JWSHeader: Sendable {
    /// The certificates of `x5c`, in their order: leaf, intermediate, root.
    let certificates: [[UInt8]]
    /// Whether the header is written exactly as Apple writes it, and so has one spelling.
    let isCanonical: Bool

    /// - Throws: `jws_header_malformed`, `jws_algorithm_unsupported`, `jws_header_unsupported`, `certificates_missing`,
    ///   `jws_certificate_count_unsupported`.
    init(_ json: [UInt8]) throws(VerificationError) {
        if let excess = JSONBounds.excess(of: json) {
            throw VerificationError(.jwsHeaderMalformed, expected: excess)
        }
        let fields: Fields
        do {
            fields = try JSONDecoder().decode(Fields.self, from: Data(json))
        } catch {
            throw VerificationError(.jwsHeaderMalformed, expected: "a JSON object with alg and x5c")
        }
        guard let algorithm = fields.alg, algorithm.isSame(as: "ES256") else {
            throw VerificationError(.jwsAlgorithmUnsupported, expected: "ES256", found: fields.alg ?? "none at all")
        }
        // What is critical must be understood (RFC 7515, 4.1.11), and nothing is.
        guard !fields.hasCritical else {
            throw VerificationError(.jwsHeaderUnsupported, expected: "no crit", found: "crit")
        }
        guard let texts = fields.x5c, !texts.isEmpty else {
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

    private struct Fields: Decodable {
        let alg: String?
        let x5c: [String]?
        let hasCritical: Bool

        enum CodingKeys: String, CodingKey { case alg, x5c, crit }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            alg = try container.decodeIfPresent(String.self, forKey: .alg)
            x5c = try container.decodeIfPresent([String].self, forKey: .x5c)
            hasCritical = container.contains(.crit)
        }
    }
}
