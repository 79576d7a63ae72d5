extension CertificateTemplate {
    /// The name of a subject or an issuer, kept as the DER bytes that certificates and receipts compare.
    public struct Name: Hashable, Sendable {
        /// The whole Name element (RFC 5280, 4.1.2.4).
        public var der: [UInt8]

        /// A name from its DER bytes, unchanged.
        public init(der: [UInt8]) {
            self.der = der
        }

        /// A name of up to four parts, in the order in which Apple's receipt certificates have them.
        public init(
            commonName: String,
            organizationalUnit: String? = nil,
            organization: String? = nil,
            country: String? = nil
        ) {
            var parts = [Self.part(KnownOID.commonName, DER.utf8String(commonName))]
            if let organizationalUnit {
                parts.append(Self.part(KnownOID.organizationalUnit, DER.utf8String(organizationalUnit)))
            }
            if let organization {
                parts.append(Self.part(KnownOID.organization, DER.utf8String(organization)))
            }
            if let country {
                parts.append(Self.part(KnownOID.country, DER.printableString(country)))
            }
            der = DER.sequence(parts)
        }

        private static func part(_ type: OID, _ value: [UInt8]) -> [UInt8] {
            DER.set([DER.sequence(type.der, value)])
        }
    }
}
