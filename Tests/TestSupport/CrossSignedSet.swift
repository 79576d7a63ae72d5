public import EvidenceMint

/// Authorities that have issued each other and a leaf, beside a receipt of that leaf: what makes the search for a path
/// expensive.
public struct CrossSignedSet {
    /// The number of authorities. A receipt has room for nine beside its leaf.
    public var authorities: Int
    /// The key of all of them.
    public var key: SigningKey
    /// The name that all of them state as their issuer; without it, there are two names, and each authority states the
    /// other one.
    public var issuer: CertificateTemplate.Name?

    public init(authorities: Int, key: SigningKey, issuer: CertificateTemplate.Name? = nil) {
        self.authorities = authorities
        self.key = key
        self.issuer = issuer
    }

    /// The receipt with the leaf and the authorities, and after them the given certificates.
    public func receipt(and others: [[UInt8]] = []) throws -> [UInt8] {
        let names = ["Bramble", "Knot"].map {
            CertificateTemplate.Name(commonName: $0, organization: "Assay Simulator")
        }
        let leaf = try MintedWorld.authority().leaf.privateKey
        var embedded = [try certificate(names[1], issuer: names[0], key: leaf, number: 0, isAuthority: false)]
        for number in 0..<authorities {
            let subject = issuer == nil ? names[number % 2] : names[0]
            embedded.append(
                try certificate(
                    subject, issuer: issuer ?? names[(number + 1) % 2], key: key, number: number + 1,
                    isAuthority: true))
        }
        var signing = SigningOptions()
        signing.embeddedCertificates = embedded + others
        signing.signerIssuer = names[0]
        signing.signerSerialNumber = [0x51]
        return try MintedWorld.mint(signing: signing)
    }

    private var isRSA: Bool { if case .rsa = key { true } else { false } }

    private func certificate(
        _ subject: CertificateTemplate.Name, issuer: CertificateTemplate.Name, key subjectKey: SigningKey, number: Int,
        isAuthority: Bool
    ) throws -> [UInt8] {
        var template = CertificateTemplate(
            issuer: issuer, subject: subject, serialNumber: [UInt8(0x51 + number)],
            notBefore: CertificateTemplate.earliestDate, notAfter: CertificateTemplate.latestDate)
        template.isAuthority = isAuthority
        template.keyUsage = isAuthority ? [.certificateSigning] : [.digitalSignature]
        template.markers = isAuthority ? [.intermediateMarker] : [.receiptMarker]
        template.signatureAlgorithm = isRSA ? .sha256WithRSA : .ecdsaWithSHA256
        return try template.signed(by: key, publicKeyInfo: subjectKey.publicKeyInfo)
    }
}
