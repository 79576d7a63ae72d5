extension CertificateTemplate {
    /// An object identifier, written as a literal: `"1.2.840.113635.100.6.11.1"`.
    public struct OID: Hashable, Sendable {
        public var arcs: [UInt64]

        /// Stores the numbers without checks.
        public init(arcs: [UInt64]) { self.arcs = arcs }
    }
}

extension CertificateTemplate.OID: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Reads the dotted form. Components that are not numbers are skipped.
    public init(stringLiteral text: String) { arcs = text.split(separator: ".").compactMap { UInt64($0) } }

    public var description: String { arcs.map(String.init).joined(separator: ".") }
}

extension CertificateTemplate.OID {
    /// The whole element, tag and length included.
    var der: [UInt8] {
        var content: [UInt8] = []
        let first = arcs.first ?? 0
        let second = arcs.dropFirst().first ?? 0
        for arc in [first &* 40 &+ second] + arcs.dropFirst(2) {
            var groups = [UInt8(arc & 0x7F)]
            var rest = arc >> 7
            while rest > 0 {
                groups.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            content += groups.reversed()
        }
        return DER.element(DER.Tag.objectIdentifier, content)
    }
}

/// The object identifiers that this module writes.
enum KnownOID {
    typealias OID = CertificateTemplate.OID

    // RFC 5652 (CMS)
    static let data: OID = "1.2.840.113549.1.7.1"
    static let signedData: OID = "1.2.840.113549.1.7.2"
    static let digestedData: OID = "1.2.840.113549.1.7.5"
    static let contentType: OID = "1.2.840.113549.1.9.3"
    static let messageDigest: OID = "1.2.840.113549.1.9.4"
    static let signingTime: OID = "1.2.840.113549.1.9.5"

    // RFC 8017 (RSA), RFC 5480 (elliptic curves)
    static let rsaEncryption: OID = "1.2.840.113549.1.1.1"

    // RFC 5280 (certificates)
    static let commonName: OID = "2.5.4.3"
    static let country: OID = "2.5.4.6"
    static let organization: OID = "2.5.4.10"
    static let organizationalUnit: OID = "2.5.4.11"
    static let subjectKeyIdentifier: OID = "2.5.29.14"
    static let keyUsage: OID = "2.5.29.15"
    static let basicConstraints: OID = "2.5.29.19"
    static let authorityKeyIdentifier: OID = "2.5.29.35"
    static let extendedKeyUsage: OID = "2.5.29.37"
    static let codeSigning: OID = "1.3.6.1.5.5.7.3.3"

    // ITU-T X.660: the arc set aside for examples
    static let example: OID = "2.999.1"
}
