public import Foundation

extension CertificateTemplate {
    /// A self-signed root like Apple's: an authority without limits.
    public static var receiptRoot: CertificateTemplate {
        var template = CertificateTemplate(issuer: .receiptRoot, subject: .receiptRoot, serialNumber: [1])
        template.isAuthority = true
        template.keyUsage = [.certificateSigning, .revocationListSigning]
        return template
    }

    /// An intermediate like Apple's Worldwide Developer Relations authority: no further authority below it.
    public static var receiptIntermediate: CertificateTemplate {
        var template = CertificateTemplate(issuer: .receiptRoot, subject: .receiptIntermediate, serialNumber: [2])
        template.isAuthority = true
        template.pathLength = 0
        template.keyUsage = [.certificateSigning, .revocationListSigning]
        template.markers = [.intermediateMarker]
        return template
    }

    /// A leaf like Apple's leaf for receipts.
    public static var receiptLeaf: CertificateTemplate {
        var template = CertificateTemplate(issuer: .receiptIntermediate, subject: .receiptLeaf, serialNumber: [3])
        template.isAuthority = false
        template.keyUsage = .digitalSignature
        template.markers = [.receiptMarker]
        return template
    }

    /// An intermediate like Apple's iTunes Store authority, which issued the leaf of transaction receipts until 2016.
    public static var storeIntermediate: CertificateTemplate {
        var template = CertificateTemplate(issuer: .receiptRoot, subject: .storeIntermediate, serialNumber: [4])
        template.isAuthority = true
        template.keyUsage = [.digitalSignature, .certificateSigning, .revocationListSigning]
        template.markers = [.storeIntermediateMarker]
        template.signatureAlgorithm = .sha1WithRSA
        return template
    }

    /// A leaf like Apple's leaf for transaction receipts of a version.
    public static func transactionReceiptLeaf(_ version: TransactionReceiptVersion) -> CertificateTemplate {
        var template: CertificateTemplate
        switch version {
        case .two:
            template = receiptLeaf
            template.issuer = .storeIntermediate
            template.subject = .purchaseReceiptLeaf
            template.markers = [.purchaseReceiptMarker]
            template.signatureAlgorithm = .sha1WithRSA
        case .three: template = receiptLeaf
        case .four:
            template = receiptLeaf
            template.subject = .transactionReceiptLeaf
        }
        return template
    }

    /// A self-signed root like Apple's root for signed payloads. Its key is on the curve P-384.
    public static var signedPayloadRoot: CertificateTemplate {
        receiptRoot.forSignedPayload(issuer: .signedPayloadRoot, subject: .signedPayloadRoot)
    }

    /// An intermediate like Apple's intermediate for signed payloads. Its key is on the curve P-384.
    public static var signedPayloadIntermediate: CertificateTemplate {
        receiptIntermediate.forSignedPayload(issuer: .signedPayloadRoot, subject: .signedPayloadIntermediate)
    }

    /// A leaf like Apple's leaf for signed payloads. Its key is on the curve P-256.
    public static var signedPayloadLeaf: CertificateTemplate {
        receiptLeaf.forSignedPayload(issuer: .signedPayloadIntermediate, subject: .signedPayloadLeaf)
    }

    /// 2008-01-01T00:00:00Z: the start of the standard certificates.
    public static let earliestDate = Date(timeIntervalSince1970: 1_199_145_600)

    /// 2049-12-31T23:59:59Z: the end of the standard certificates, and the last time that UTCTime can express.
    public static let latestDate = Date(timeIntervalSince1970: 2_524_607_999)
}

extension CertificateTemplate.OID {
    /// Marks certificates that sign receipts and App Store data (1.2.840.113635.100.6.11.1).
    public static let receiptMarker: Self = "1.2.840.113635.100.6.11.1"

    /// Marks the intermediates of Apple's Worldwide Developer Relations authority (1.2.840.113635.100.6.2.1).
    public static let intermediateMarker: Self = "1.2.840.113635.100.6.2.1"

    /// Marks the certificate that signed transaction receipts until 2016 (1.2.840.113635.100.6.5.1).
    public static let purchaseReceiptMarker: Self = "1.2.840.113635.100.6.5.1"

    /// Marks the intermediate of Apple's iTunes Store authority (1.2.840.113635.100.6.2.2).
    public static let storeIntermediateMarker: Self = "1.2.840.113635.100.6.2.2"
}

extension CertificateTemplate.Name {
    /// The standard root, intermediate and leaf of app receipts.
    public static let receiptRoot = simulator("Root CA")
    public static let receiptIntermediate = simulator("Developer Relations CA")
    public static let receiptLeaf = simulator("Receipt Signing")
    /// The intermediate that issues the leaf of transaction receipts of version 2, and that leaf.
    public static let storeIntermediate = simulator("Store CA")
    public static let purchaseReceiptLeaf = simulator("Purchase Receipt Signing")
    /// The leaf of transaction receipts of version 4.
    public static let transactionReceiptLeaf = simulator("Transaction Receipt Signing")
    /// The root, the intermediate and the leaf of signed payloads.
    public static let signedPayloadRoot = simulator("Data Root CA")
    public static let signedPayloadIntermediate = simulator("Data Relations CA")
    public static let signedPayloadLeaf = simulator("Data Signing")

    /// No name in it can be mistaken for one of Apple's.
    static func simulator(_ name: String) -> Self {
        Self(commonName: "Assay Simulator \(name)", organization: "Assay Simulator")
    }
}

extension CertificateTemplate {
    /// This template with names, serial number, period and algorithm of a certificate read from elsewhere.
    func adopting(_ identity: SigningIdentity) -> CertificateTemplate {
        var template = self
        template.issuer = identity.issuer
        template.subject = identity.subject
        template.serialNumber = identity.serialNumber
        template.notBefore = identity.notBefore
        template.notAfter = identity.notAfter
        template.signatureAlgorithm = identity.signatureAlgorithm ?? signatureAlgorithm
        return template
    }

    private func forSignedPayload(issuer: Name, subject: Name) -> CertificateTemplate {
        var template = self
        template.issuer = issuer
        template.subject = subject
        template.signatureAlgorithm = .ecdsaWithSHA384
        return template
    }

    private init(issuer: Name, subject: Name, serialNumber: [UInt8]) {
        self.init(
            issuer: issuer, subject: subject, serialNumber: serialNumber, notBefore: Self.earliestDate,
            notAfter: Self.latestDate
        )
    }
}
