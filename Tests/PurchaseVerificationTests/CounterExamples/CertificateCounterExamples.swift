import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// Faults of a certificate path.
enum CertificateCounterExamples {
    static let all = certificates + path + markers

    static let certificates: [CounterExample] = [
        .container(.certificateMalformed, "a leaf that is not a certificate inside") { tree in
            tree.signedPayload[3, 0, 2].tag = 0x04
        },
        .container(.certificateMalformed, "an intermediate with a serial number of no bytes") { tree in
            tree.signedPayload[3, 1, 0, 1].content = []
        },
        .container(.certificateMalformed, "an embedded certificate that is an empty SEQUENCE") { tree in
            tree.signedPayload[3].children.append(DERTree(tag: 0x30, children: []))
        },
        .leaf(.certificateMalformed, "65 extensions") {
            $0.extraExtensions += (0..<65).map { number in
                .init(oid: .init(arcs: [2, 999, UInt64(number)]), isCritical: false, value: [5, 0])
            }
        },
        .leaf(.certificateMalformed, "16 kB of an extension") {
            $0.extraExtensions += [
                .init(oid: "2.999.3", isCritical: false, value: [UInt8](repeating: 0, count: 1 << 14))
            ]
        },
        .leaf(.certificateMalformed, "an extension twice") {
            $0.extraExtensions += [.init(oid: "2.999.2", isCritical: false, value: [5, 0])]
            $0.extraExtensions += [.init(oid: "2.999.2", isCritical: false, value: [5, 0])]
        },
        .leaf(.certificateAlgorithmMismatch, "SHA-256 outside, SHA-512 inside") {
            $0.innerSignatureAlgorithm = .sha512WithRSA
        },
        .container(.certificateAlgorithmUnsupported, "MD5 with RSA") { tree in
            for number in [0, 1] {
                let algorithm: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x04]
                if number == 0 {
                    tree.signedPayload[3, 0, 0, 2, 0].content = algorithm
                } else {
                    tree.signedPayload[3, 0, 1, 0].content = algorithm
                }
            }
        },
        .minted(.publicKeyUnacceptable, .weakLeafKey),
        .minted(.issuerUnknown, .crossSigned),
        .leaf(.publicKeyUnacceptable, "the RSA exponent 3") { $0.publicKeyInfo = rsaKey(bytes: 256, exponent: [3]) },
        .leaf(.publicKeyUnacceptable, "the RSA exponent 1") { $0.publicKeyInfo = rsaKey(bytes: 256, exponent: [1]) },
        .leaf(.publicKeyUnacceptable, "an RSA exponent of 2,048 bit") {
            $0.publicKeyInfo = rsaKey(bytes: 256, exponent: [UInt8](repeating: 0x7F, count: 256))
        },
        .leaf(.publicKeyUnacceptable, "an RSA key of 8,192 bit") {
            $0.publicKeyInfo = rsaKey(bytes: 1024, exponent: [1, 0, 1])
        },
        .leaf(.publicKeyUnacceptable, "an RSA key of 2,040 bit") {
            $0.publicKeyInfo = rsaKey(bytes: 255, exponent: [1, 0, 1])
        },
        .intermediate(.publicKeyUnacceptable, "an authority of 1,024 bit") {
            $0.publicKeyInfo = rsaKey(bytes: 128, exponent: [1, 0, 1])
        },
        .leaf(.publicKeyUnacceptable, "an elliptic leaf for an RSA signature") {
            $0.publicKeyInfo = SigningKey.makeP256().publicKeyInfo
        },
    ]

    static let path: [CounterExample] = [
        CounterExample(.issuerUnknown, "an authority that nobody named", anchors: { [] }) { try MintedWorld.mint() },
        CounterExample(.issuerUnknown, "the intermediate is not embedded") {
            var signing = SigningOptions()
            signing.certificates = [.leaf, .root]
            return try MintedWorld.mint(signing: signing)
        },
        .minted(.issuerUnknown, .wrongIssuerName),
        CounterExample(.issuerUnknown, "issuers that name each other") { try issuerLoop() },
        .minted(.issuerUnknown, .wrongRoot),
        .minted(.certificateSignatureInvalid, .flippedLeafCertificateByte),
        CounterExample(.certificateSignatureInvalid, "an intermediate that another root signed") {
            let (authority, other) = (try MintedWorld.authority(), try MintedWorld.otherAuthority())
            var signing = SigningOptions()
            signing.embeddedCertificates = [authority.leaf.certificate, other.intermediate.certificate]
            return try MintedWorld.mint(signing: signing)
        },
        .minted(.certificateExpired, .expiredLeaf),
        .minted(.certificateExpired, .expiredIntermediate),
        .leaf(.certificateExpired, "a leaf that ended a second before") {
            $0.notAfter = MintedWorld.moment.addingTimeInterval(-1)
        },
        .minted(.certificateNotYetValid, .leafNotYetValid),
        .leaf(.certificateNotYetValid, "a leaf that begins a second later") {
            $0.notBefore = MintedWorld.moment.addingTimeInterval(1)
        },
        .intermediate(.certificateNotYetValid, "an intermediate that begins a second later") {
            $0.notBefore = MintedWorld.moment.addingTimeInterval(1)
        },
        CounterExample(
            .certificateExpired, "a root that ended a second before",
            anchors: {
                [try rootEnding(MintedWorld.moment.addingTimeInterval(-1))]
            }
        ) {
            var signing = SigningOptions()
            signing.certificates = [.leaf, .intermediate]
            return try MintedWorld.mint(signing: signing)
        },
        .minted(.issuerNotAuthority, .notAnAuthority),
        .intermediate(.issuerNotAuthority, "no basic constraints") {
            $0.isAuthority = nil; $0.pathLength = nil
        },
        .intermediate(.issuerNotAuthority, "an authority of version 1") {
            $0.version = 1; $0.omitsExtensions = true
        },
        .minted(.pathLengthExceeded, .pathLengthExceeded),
        .minted(.keyUsageUnsuitable, .intermediateKeyUsage),
        .minted(.keyUsageUnsuitable, .leafKeyUsage),
        .intermediate(.keyUsageUnsuitable, "an authority for signing code only") {
            $0.extendedKeyUsage = ["1.3.6.1.5.5.7.3.3"]
        },
        .minted(.criticalExtensionUnknown, .unknownCriticalExtension),
        .intermediate(.criticalExtensionUnknown, "critical name constraints in an authority") {
            $0.extraExtensions = [.init(oid: "2.5.29.30", isCritical: true, value: [0x30, 0])]
        },
        CounterExample(.pathTooLong, "four intermediates") { try longPath(intermediates: 4) },
        CounterExample(.pathBudgetExceeded, "a thicket of authorities with one name") { try thicket() },
    ]

    static let markers: [CounterExample] = [
        .minted(.leafMarkerMissing, .missingLeafMarker),
        .minted(.leafMarkerMissing, .developerCertificate),
        .minted(.intermediateMarkerMissing, .missingIntermediateMarker),
        CounterExample(.intermediateMarkerMissing, "a leaf that the root itself issued") {
            let authority = try MintedWorld.authority()
            let leaf = try certificate(
                "Assay Simulator Receipt Signing", by: authority.root, issuer: authority.root.subject,
                key: authority.leaf.privateKey, isAuthority: false)
            var signing = SigningOptions()
            signing.embeddedCertificates = [leaf]
            signing.signerIssuer = authority.root.subject
            signing.signerSerialNumber = [0x51]
            return try MintedWorld.mint(signing: signing)
        },
    ]

    /// A key without an owner, of any size and exponent.
    private static func rsaKey(bytes: Int, exponent: [UInt8]) -> [UInt8] {
        SigningKey.rsaPublicKeyInfo(modulus: [UInt8](repeating: 0xC5, count: bytes), exponent: exponent)
    }

    private static func rootEnding(_ date: Date) throws -> [UInt8] {
        try MintedWorld.authority().replacingRoot { $0.notAfter = date }.root.certificate
    }

    /// A certificate with the serial number 0x51 plus a number, for a key, issued by an identity under any name.
    private static func certificate(
        _ commonName: String, by signer: SigningIdentity, issuer: CertificateTemplate.Name,
        key: SigningKey, isAuthority: Bool, number: Int = 0
    ) throws -> [UInt8] {
        var template = CertificateTemplate(
            issuer: issuer, subject: .init(commonName: commonName, organization: "Assay Simulator"),
            serialNumber: [UInt8(0x51 + number)], notBefore: CertificateTemplate.earliestDate,
            notAfter: CertificateTemplate.latestDate)
        template.isAuthority = isAuthority
        template.keyUsage = isAuthority ? [.certificateSigning] : [.digitalSignature]
        template.markers = isAuthority ? [.intermediateMarker] : [.receiptMarker]
        return try template.signed(by: signer.privateKey, publicKeyInfo: key.publicKeyInfo)
    }

    /// A chain of authorities: each is issued by the next, the last by the root, and the first issues the leaf. One key
    /// serves all.
    private static func longPath(intermediates: Int) throws -> [UInt8] {
        let authority = try MintedWorld.authority()
        let key = authority.intermediate
        func name(_ number: Int) -> CertificateTemplate.Name {
            .init(commonName: "Authority \(number)", organization: "Assay Simulator")
        }
        var embedded = [
            try certificate(
                "Assay Simulator Receipt Signing", by: key, issuer: name(1), key: authority.leaf.privateKey,
                isAuthority: false)
        ]
        for number in 1...intermediates {
            let isLast = number == intermediates
            embedded.append(
                try certificate(
                    "Authority \(number)", by: isLast ? authority.root : key,
                    issuer: isLast ? authority.root.subject : name(number + 1), key: key.privateKey, isAuthority: true))
        }
        var signing = SigningOptions()
        signing.embeddedCertificates = embedded
        signing.signerIssuer = name(1)
        signing.signerSerialNumber = [0x51]
        return try MintedWorld.mint(signing: signing)
    }

    /// Two authorities, each issued by the other.
    private static func issuerLoop() throws -> [UInt8] {
        let authority = try MintedWorld.authority()
        let key = authority.intermediate
        let first = CertificateTemplate.Name(commonName: "First", organization: "Assay Simulator")
        let second = CertificateTemplate.Name(commonName: "Second", organization: "Assay Simulator")
        var signing = SigningOptions()
        signing.embeddedCertificates = [
            try certificate("Leaf", by: key, issuer: first, key: authority.leaf.privateKey, isAuthority: false),
            try certificate("First", by: key, issuer: second, key: key.privateKey, isAuthority: true, number: 1),
            try certificate("Second", by: key, issuer: first, key: key.privateKey, isAuthority: true, number: 2),
        ]
        signing.signerIssuer = first
        signing.signerSerialNumber = [0x51]
        return try MintedWorld.mint(signing: signing)
    }

    /// Nine authorities with P-256 keys, five of one name and four of another, each issued by every one of the other
    /// name: 45 pairs of certificates, of a weight of 90.
    private static func thicket() throws -> [UInt8] {
        try CrossSignedSet(authorities: 9, key: .makeP256()).receipt()
    }
}
