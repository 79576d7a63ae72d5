import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// Faults of the certificates of signed data, and of the date at which their validity is checked.
enum SignedPayloadPathCounterExamples {
    static let all: [CounterExample] = leaf + intermediate + time + environments

    private static func rsaKey(bytes: Int) -> [UInt8] {
        SigningKey.rsaPublicKeyInfo(modulus: [UInt8](repeating: 0xC5, count: bytes), exponent: [1, 0, 1])
    }

    /// A leaf for the store's key, issued by the root.
    private static func leafOfRoot() throws -> [UInt8] {
        let store = try MintedWorld.store().signedPayload
        var template = CertificateTemplate.signedPayloadLeaf
        template.issuer = store.root.subject
        return try template.signed(by: store.root.privateKey, publicKeyInfo: store.leaf.privateKey.publicKeyInfo)
    }

    private static let leaf: [CounterExample] = [
        .dataLeaf(.publicKeyUnacceptable, "a leaf on P-384") { $0.publicKeyInfo = SigningKey.makeP384().publicKeyInfo },
        .dataLeaf(.publicKeyUnacceptable, "an RSA leaf") { $0.publicKeyInfo = rsaKey(bytes: 256) },
        .dataLeaf(.publicKeyUnacceptable, "an RSA leaf of 1,024 bit") { $0.publicKeyInfo = rsaKey(bytes: 128) },
        .dataLeaf(.signatureInvalid, "a leaf with another key") {
            $0.publicKeyInfo = SigningKey.makeP256().publicKeyInfo
        },
        .dataLeaf(.leafMarkerMissing, "a leaf with the marker of transaction receipts") {
            $0.markers = [.purchaseReceiptMarker]
        },
        .dataLeaf(.keyUsageUnsuitable, "a leaf that may sign certificates alone") {
            $0.keyUsage = [.certificateSigning]
        },
        .dataLeaf(.criticalExtensionUnknown, "a leaf with a critical extension that nobody knows") {
            $0.extraExtensions = [.init(oid: "2.999.1", isCritical: true, value: [5, 0])]
        },
        .dataLeaf(.certificateAlgorithmUnsupported, "a leaf signed with SHA-1") {
            $0.signatureAlgorithm = .ecdsaWithSHA1
        },
        .dataLeaf(.certificateAlgorithmMismatch, "a leaf with two algorithms") {
            $0.innerSignatureAlgorithm = .ecdsaWithSHA256
        },
        .dataLeaf(.certificateSignatureInvalid, "a leaf whose algorithm is not its issuer's") {
            $0.signatureAlgorithm = .sha256WithRSA
        },
        .evidence(.signatureInvalid, "signed data: the leaf of another authority signed") {
            var jws = try HandmadeJWS(ClaimsText.object(ClaimsText.transaction))
            jws.key = .makeP256()
            return try jws.bytes()
        },
        .evidence(.intermediateMarkerMissing, "signed data: a leaf that the root itself issued") {
            let store = try MintedWorld.store().signedPayload
            let header = try HandmadeJWS.header(
                certificates: [try leafOfRoot(), store.intermediate.certificate, store.root.certificate])
            return try HandmadeJWS(ClaimsText.object(ClaimsText.transaction), header: header).bytes()
        },
        .evidence(.publicKeyUnacceptable, "signed data: the leaf of app receipts, which is RSA") {
            let store = try MintedWorld.store()
            let chain = [store.receipts.leaf, store.receipts.intermediate, store.receipts.root].map(\.certificate)
            let header = try HandmadeJWS.header(certificates: chain)
            return try HandmadeJWS(ClaimsText.object(ClaimsText.transaction), header: header).bytes()
        },
    ]

    private static let intermediate: [CounterExample] = [
        .dataIntermediate(.intermediateMarkerMissing, "an intermediate with the marker of the iTunes Store") {
            $0.markers = [.storeIntermediateMarker]
        },
        .dataIntermediate(.issuerNotAuthority, "no basic constraints") {
            $0.isAuthority = nil; $0.pathLength = nil
        },
        .dataIntermediate(.keyUsageUnsuitable, "an intermediate that may not sign certificates") {
            $0.keyUsage = [.digitalSignature]
        },
        .dataIntermediate(.keyUsageUnsuitable, "an intermediate limited to a purpose") {
            $0.extendedKeyUsage = ["1.3.6.1.5.5.7.3.3"]
        },
        .dataIntermediate(.criticalExtensionUnknown, "an intermediate with critical name constraints") {
            $0.extraExtensions = [.init(oid: "2.5.29.30", isCritical: true, value: [0x30, 0])]
        },
        .dataIntermediate(.certificateExpired, "an intermediate that ended a second before") {
            $0.notAfter = MintedWorld.moment.addingTimeInterval(-1)
        },
        CounterExample(
            .certificateJustExpired, "signed data: an intermediate that ended a second before, at the time of signing",
            now: AppStoreTime(MintedWorld.moment), anchors: MintedWorld.trustedCertificates
        ) {
            let authority = try MintedWorld.store().signedPayload.replacingIntermediate {
                $0.notAfter = MintedWorld.moment.addingTimeInterval(-1)
            }
            return Array(try SignedPayloadEncoder(authority: authority).encode(MintedWorld.transaction()).utf8)
        },
        .dataIntermediate(.certificateNotYetValid, "an intermediate that begins a second later") {
            $0.notBefore = MintedWorld.moment.addingTimeInterval(1)
        },
        CounterExample(.issuerUnknown, "signed data: nobody but Apple is trusted", anchors: { [] }) {
            try MintedWorld.mint(MintedWorld.transaction())
        },
        CounterExample(
            .issuerUnknown, "signed data: the root of receipts alone is trusted",
            anchors: { [try MintedWorld.store().receipts.root.certificate] }
        ) { try MintedWorld.mint(MintedWorld.transaction()) },
        CounterExample(
            .pathLengthExceeded, "signed data: a root that allows no authority below it",
            anchors: { [try store { $0.pathLength = 0 }.root.certificate] }
        ) { try signedData(by: store { $0.pathLength = 0 }) },
        CounterExample(
            .intermediateMarkerMissing, "signed data: a leaf that a root with an intermediate's marker issued",
            anchors: {
                [
                    try MintedWorld.store().signedPayload.replacingRoot { $0.markers = [.intermediateMarker] }
                        .root.certificate
                ]
            }
        ) {
            let chain = [try leafOfRoot()] + (try HandmadeJWS.chain().dropFirst())
            return try HandmadeJWS(
                ClaimsText.object(ClaimsText.transaction), header: try HandmadeJWS.header(certificates: chain)
            ).bytes()
        },
        CounterExample(
            .certificateExpired, "signed data: a root that ended a second before",
            anchors: { [try store { $0.notAfter = ended }.root.certificate] }
        ) { try signedData(by: store { $0.notAfter = ended }) },
        .evidence(.jwsCertificateCountUnsupported, "signed data: one certificate, which the trusted root issued") {
            let header = try HandmadeJWS.header(certificates: [try leafOfRoot()])
            return try HandmadeJWS(ClaimsText.object(ClaimsText.transaction), header: header).bytes()
        },
    ]

    private static let ended = MintedWorld.moment.addingTimeInterval(-1)

    /// The shared store with another certificate of its root.
    private static func store(
        _ change: (inout CertificateTemplate) -> Void
    ) throws -> EvidenceMint.SignedPayloadAuthority {
        try MintedWorld.store().signedPayload.replacingRoot(change)
    }

    /// Signed data that embeds the root of its authority.
    private static func signedData(by authority: EvidenceMint.SignedPayloadAuthority) throws -> [UInt8] {
        Array(try SignedPayloadEncoder(authority: authority).encode(MintedWorld.transaction()).utf8)
    }

    private static func at(_ milliseconds: String) -> String {
        ClaimsText.object(ClaimsText.transaction, ["signedDate": milliseconds])
    }

    private static let undated = ClaimsText.object(ClaimsText.notification, ["signedDate": nil])

    /// A notification without a date, around a transaction with these changes.
    private static func undated(around changes: [String: String?]) throws -> [UInt8] {
        let transaction = try HandmadeJWS(ClaimsText.object(ClaimsText.transaction, changes)).text()
        let data = #"{"bundleId":"com.example.app","environment":"Sandbox","signedTransactionInfo":"\#(transaction)"}"#
        return try HandmadeJWS(ClaimsText.object(ClaimsText.notification, ["signedDate": nil, "data": data])).bytes()
    }

    private static let time: [CounterExample] = [
        .dataLeaf(.certificateExpired, "a leaf that ended a second before signedDate") {
            $0.notAfter = MintedWorld.moment.addingTimeInterval(-1)
        },
        .dataLeaf(.certificateNotYetValid, "a leaf that begins a second after signedDate") {
            $0.notBefore = MintedWorld.moment.addingTimeInterval(1)
        },
        .payload(.certificateNotYetValid, "a signedDate of 1970", at("0")),
        .payload(.certificateNotYetValid, "a signedDate in seconds", at("1700000000")),
        .payload(.certificateExpired, "a signedDate of the year 9999", at("253402300799999")),
        .payload(.creationDateMissing, "no signedDate", ClaimsText.object(ClaimsText.transaction, ["signedDate": nil])),
        .payload(.creationDateMissing, "signedDate null", at("null")),
        .payload(
            .creationDateMissing, "no receiptCreationDate",
            ClaimsText.object(ClaimsText.appTransaction, ["receiptCreationDate": nil])),
        .payload(.creationDateMissing, "a notification without signedDate, with nothing in it that has one", undated),
        .evidence(.creationDateMissing, "a notification without signedDate, around a transaction without one") {
            try undated(around: ["signedDate": nil])
        },
        .evidence(.certificateExpired, "a notification without signedDate, around a transaction of the year 9999") {
            try undated(around: ["signedDate": "253402300799999"])
        },
        .evidence(.certificateNotYetValid, "a notification without signedDate, around a transaction of 1970") {
            try undated(around: ["signedDate": "0"])
        },
    ]

    /// The environments for which a lone certificate is not accepted.
    private static let localOnly: [(String, String)] = [
        ("a sandbox transaction", ClaimsText.object(ClaimsText.transaction)),
        (
            "a production transaction",
            ClaimsText.object(ClaimsText.transaction, ["environment": #""Production""#])
        ),
        ("a transaction of no environment", ClaimsText.object(ClaimsText.transaction, ["environment": nil])),
        ("sandbox renewal info", ClaimsText.object(ClaimsText.renewalInfo)),
        ("a sandbox app transaction", ClaimsText.object(ClaimsText.appTransaction)),
        ("an app transaction of no environment", ClaimsText.object(ClaimsText.appTransaction, ["receiptType": nil])),
        ("a notification of no environment", ClaimsText.object(ClaimsText.notification)),
        (
            "a notification of a token",
            ClaimsText.object(
                ClaimsText.notification, ["externalPurchaseToken": #"{"externalPurchaseId":"SANDBOX_1"}"#])
        ),
    ]

    private static let environments: [CounterExample] = localOnly.map { name, payload -> CounterExample in
        CounterExample(
            .environmentNotVouchedFor, "\(name), signed by a lone certificate as Xcode has one",
            anchors: { [try MintedWorld.xcodeSigner().payloadIdentity.certificate] }
        ) {
            let signer = try MintedWorld.xcodeSigner().payloadIdentity
            var jws = try HandmadeJWS(payload, header: try HandmadeJWS.header(certificates: [signer.certificate]))
            jws.key = signer.privateKey
            return try jws.bytes()
        }
    }
}
