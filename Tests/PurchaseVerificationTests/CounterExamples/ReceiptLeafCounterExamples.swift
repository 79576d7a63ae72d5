import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// Faults of the leaf of a transaction receipt, and of the authority that must have issued it.
enum ReceiptLeafCounterExamples {
    static let all: [CounterExample] = MintedVersion.allCases.flatMap { leaf($0) + keys($0) } + issuers

    private static func leaf(_ version: MintedVersion) -> [CounterExample] {
        let foreignMarker: CertificateTemplate.OID = version == .two ? .receiptMarker : .purchaseReceiptMarker
        return [
            .receiptLeaf(.leafMarkerMissing, version, "the marker of another version") { $0.markers = [foreignMarker] },
            .receiptLeaf(.leafMarkerMissing, version, "the marker of an authority") {
                $0.markers = [.intermediateMarker]
            },
            .receiptLeaf(.certificateExpired, version, "a leaf that ended a second before the purchase") {
                $0.notAfter = MintedWorld.moment.addingTimeInterval(-1)
            },
            .receiptLeaf(.certificateNotYetValid, version, "a leaf that begins a second after the purchase") {
                $0.notBefore = MintedWorld.moment.addingTimeInterval(1)
            },
            .receiptLeaf(.keyUsageUnsuitable, version, "a leaf that may sign certificates alone") {
                $0.keyUsage = [.certificateSigning]
            },
            .receiptLeaf(.criticalExtensionUnknown, version, "a critical extension that nobody knows") {
                $0.extraExtensions = [.init(oid: "2.999.1", isCritical: true, value: [5, 0])]
            },
            .receiptLeaf(.certificateAlgorithmMismatch, version, "two signature algorithms") {
                $0.innerSignatureAlgorithm = .sha512WithRSA
            },
            .receiptLeaf(.certificateMalformed, version, "an extension twice") {
                $0.extraExtensions = [
                    .init(oid: "2.999.2", isCritical: false, value: [5, 0]),
                    .init(oid: "2.999.2", isCritical: false, value: [5, 0]),
                ]
            },
            .evidence(.certificateAlgorithmUnsupported, "version \(version.rawValue): a leaf signed with MD5") {
                var receipt = try HandmadeTransactionReceipt(version)
                var tree = DERTree(receipt.certificate)
                tree[0, 2, 0].content[8] = 4
                tree[1, 0].content[8] = 4
                receipt.certificate = tree.bytes
                return try receipt.bytes()
            },
            .evidence(.certificateSignatureInvalid, "version \(version.rawValue): a bit of the leaf's serial number") {
                var receipt = try HandmadeTransactionReceipt(version)
                var tree = DERTree(receipt.certificate)
                tree[0, 1].content[5] ^= 1
                receipt.certificate = tree.bytes
                return try receipt.bytes()
            },
        ]
    }

    /// Keys of a size or kind that the version does not use. The signature keeps its length.
    private static func keys(_ version: MintedVersion) -> [CounterExample] {
        let sizes = version == .two ? [64, 127, 129, 256, 512] : [128, 255, 257, 384, 512]
        let right = version == .two ? 128 : 256
        let exponents: [[UInt8]] = [[1], [3], [1, 0, 0]]
        return sizes.map { size -> CounterExample in
            .receiptLeaf(.publicKeyUnacceptable, version, "a key of \(size * 8) bit") {
                $0.publicKeyInfo = SigningKey.rsaPublicKeyInfo(modulus: modulus(size), exponent: [1, 0, 1])
            }
        }
            + exponents.map { exponent -> CounterExample in
                .receiptLeaf(.publicKeyUnacceptable, version, "the exponent \(exponent)") {
                    $0.publicKeyInfo = SigningKey.rsaPublicKeyInfo(modulus: modulus(right), exponent: exponent)
                }
            } + [
                .receiptLeaf(.publicKeyUnacceptable, version, "an elliptic key") {
                    $0.publicKeyInfo = SigningKey.makeP256().publicKeyInfo
                },
                .receiptLeaf(.signatureInvalid, version, "a key that nobody has") {
                    $0.publicKeyInfo = SigningKey.rsaPublicKeyInfo(modulus: modulus(right), exponent: [1, 0, 1])
                },
            ]
    }

    /// A modulus with unknown factors.
    private static func modulus(_ bytes: Int) -> [UInt8] { [UInt8](repeating: 0xC5, count: bytes) }

    private static let issuers: [CounterExample] = MintedVersion.allCases.flatMap { version in
        let name = "version \(version.rawValue): "
        let receipt: @Sendable () throws -> [UInt8] = { try HandmadeTransactionReceipt(version).bytes() }
        /// The unchanged receipt, for a verifier that trusts the issuer in another form.
        func issuer(
            _ code: ReasonCode, _ fault: String, _ change: @escaping @Sendable (inout CertificateTemplate) -> Void
        ) -> CounterExample {
            CounterExample(code, name + fault, anchors: { [try changedIssuer(version, change)] }, receipt)
        }
        return [
            CounterExample(.issuerUnknown, name + "nobody but Apple is trusted", anchors: { [] }, receipt),
            CounterExample(
                .issuerUnknown, name + "the root is trusted, but not the issuer, which does not travel",
                anchors: { [try MintedWorld.store().receipts.root.certificate] }, receipt),
            issuer(.issuerUnknown, "the issuer is no authority") {
                $0.isAuthority = false; $0.pathLength = nil
            },
            issuer(.issuerUnknown, "the issuer has no marker") { $0.markers = [] },
            issuer(.issuerUnknown, "the issuer may not sign certificates") { $0.keyUsage = [.digitalSignature] },
            issuer(.issuerUnknown, "the issuer is limited to a purpose") {
                $0.extendedKeyUsage = ["1.3.6.1.5.5.7.3.3"]
            },
            issuer(.issuerUnknown, "the issuer has a critical extension that nobody knows") {
                $0.extraExtensions = [.init(oid: "2.999.1", isCritical: true, value: [5, 0])]
            },
            issuer(.intermediateMarkerMissing, "the issuer has the role of the other authority") {
                $0.markers = [version == .two ? .intermediateMarker : .storeIntermediateMarker]
            },
            issuer(.certificateExpired, "the issuer ended a second before the purchase") {
                $0.notAfter = MintedWorld.moment.addingTimeInterval(-1)
            },
            issuer(.certificateNotYetValid, "the issuer begins a second after the purchase") {
                $0.notBefore = MintedWorld.moment.addingTimeInterval(1)
            },
            issuer(.certificateSignatureInvalid, "the issuer has another key") {
                $0.publicKeyInfo = SigningKey.rsaPublicKeyInfo(
                    modulus: [UInt8](repeating: 0xC5, count: 256), exponent: [1, 0, 1])
            },
            .evidence(.intermediateMarkerMissing, name + "a leaf that the other authority issued") {
                let store = try MintedWorld.store()
                var receipt = try HandmadeTransactionReceipt(version)
                receipt.certificate = try HandmadeTransactionReceipt.leaf(
                    version,
                    issuer: version == .two ? store.receipts.intermediate : store.transactionReceipts.storeIntermediate
                ) { _ in }
                return try receipt.bytes()
            },
            .evidence(.issuerUnknown, name + "a leaf that the root itself issued") {
                var receipt = try HandmadeTransactionReceipt(version)
                receipt.certificate = try HandmadeTransactionReceipt.leaf(
                    version, issuer: try MintedWorld.store().receipts.root
                ) { _ in }
                return try receipt.bytes()
            },
        ]
    }

    /// The certificate of the version's issuer, with its own key unless the change names another, changed and signed
    /// again.
    private static func changedIssuer(
        _ version: MintedVersion, _ change: (inout CertificateTemplate) -> Void
    ) throws -> [UInt8] {
        let store = try MintedWorld.store()
        var template = version == .two ? CertificateTemplate.storeIntermediate : .receiptIntermediate
        template.issuer = store.receipts.root.subject
        change(&template)
        return try template.signed(
            by: store.receipts.root.privateKey,
            publicKeyInfo: store.transactionReceiptIssuer(version).privateKey.publicKeyInfo)
    }
}
