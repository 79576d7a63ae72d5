extension CertificateTemplate {
    /// An object identifier, written as a literal: `"1.2.840.113635.100.6.11.1"`.
    public struct OID: Hashable, Sendable {
        /// The numbers between the dots.
        public var arcs: [UInt64]

        /// Stores the numbers without checks.
        public init(arcs: [UInt64]) {
            self.arcs = arcs
        }
    }
}

extension CertificateTemplate.OID: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Reads the dotted form. Components that are not numbers are skipped.
    public init(stringLiteral text: String) {
        arcs = text.split(separator: ".").compactMap { UInt64($0) }
    }

    /// The dotted form.
    public var description: String {
        arcs.map(String.init).joined(separator: ".")
    }
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
