public import Foundation

extension CertificateTemplate {
    /// A self-signed root like Apple's: an authority without limits.
    public static var receiptRoot: CertificateTemplate {
        var template = CertificateTemplate(issuer: .simulatorRoot, subject: .simulatorRoot, serialNumber: [1])
        template.isAuthority = true
        template.keyUsage = [.certificateSigning, .revocationListSigning]
        return template
    }

    /// An intermediate like Apple's Worldwide Developer Relations authority: no further authority below it.
    public static var receiptIntermediate: CertificateTemplate {
        var template = CertificateTemplate(issuer: .simulatorRoot, subject: .simulatorIntermediate, serialNumber: [2])
        template.isAuthority = true
        template.pathLength = 0
        template.keyUsage = [.certificateSigning, .revocationListSigning]
        template.markers = [.intermediateMarker]
        return template
    }

    /// A leaf like the one Apple signs receipts with.
    public static var receiptLeaf: CertificateTemplate {
        var template = CertificateTemplate(issuer: .simulatorIntermediate, subject: .simulatorLeaf, serialNumber: [3])
        template.isAuthority = false
        template.keyUsage = .digitalSignature
        template.markers = [.receiptMarker]
        return template
    }

    /// 2008-01-01T00:00:00Z: where the standard certificates begin.
    public static let earliestDate = Date(timeIntervalSince1970: 1_199_145_600)

    /// 2049-12-31T23:59:59Z: where the standard certificates end, and the last moment that UTCTime can express.
    public static let latestDate = Date(timeIntervalSince1970: 2_524_607_999)
}

extension CertificateTemplate.OID {
    /// Marks certificates that sign receipts and App Store data (1.2.840.113635.100.6.11.1).
    public static let receiptMarker: Self = "1.2.840.113635.100.6.11.1"

    /// Marks the intermediates of Apple's Worldwide Developer Relations authority (1.2.840.113635.100.6.2.1).
    public static let intermediateMarker: Self = "1.2.840.113635.100.6.2.1"
}

extension CertificateTemplate.Name {
    /// The name of the standard root.
    public static let simulatorRoot = Self(commonName: "Assay Simulator Root CA", organization: "Assay Simulator")

    /// The name of the standard intermediate.
    public static let simulatorIntermediate = Self(
        commonName: "Assay Simulator Developer Relations CA",
        organization: "Assay Simulator"
    )

    /// The name of the standard leaf.
    public static let simulatorLeaf = Self(
        commonName: "Assay Simulator Receipt Signing",
        organization: "Assay Simulator"
    )
}

extension CertificateTemplate {
    /// This template with names, serial number, period and algorithm of a certificate read from elsewhere.
    func adopting(_ identity: SimulatorIdentity) -> CertificateTemplate {
        var template = self
        template.issuer = identity.issuer
        template.subject = identity.subject
        template.serialNumber = identity.serialNumber
        template.notBefore = identity.notBefore
        template.notAfter = identity.notAfter
        template.signatureAlgorithm = identity.signatureAlgorithm ?? signatureAlgorithm
        return template
    }

    private init(issuer: Name, subject: Name, serialNumber: [UInt8]) {
        self.init(
            issuer: issuer,
            subject: subject,
            serialNumber: serialNumber,
            notBefore: Self.earliestDate,
            notAfter: Self.latestDate
        )
    }
}
