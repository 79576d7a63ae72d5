import EvidenceMint
import PurchaseVerification
import TestSupport

/// Every fault of the simulator, in every version and kind that can have it, with its one code.
enum FaultCounterExamples {
    static let transactionReceipts: [CounterExample] = MintedVersion.allCases.flatMap { version in
        TransactionReceiptFault.allCases.map { fault in
            CounterExample.evidence(
                code(fault, version), "version \(version.rawValue): \(fault.rawValue)", policies: policies(fault)
            ) { try MintedWorld.mint(MintedWorld.transactionReceipt(), version, fault: fault) }
        }
    }

    static let signedPayload: [CounterExample] = kinds.flatMap { name, template in
        SignedPayloadFault.allCases.filter { applies($0, to: template) }.map { fault in
            CounterExample.evidence(
                code(fault, isEnvelope: name == "notification"), "\(name): \(fault.rawValue)",
                policies: policies(fault)
            ) { try MintedWorld.mint(template, fault: fault) }
        }
    }

    private static let kinds: [(String, any SignedPayloadTemplate)] = [
        ("transaction", MintedWorld.transaction()), ("renewal info", MintedWorld.renewalInfo()),
        ("app transaction", MintedWorld.appTransaction()), ("test notification", MintedWorld.testNotification()),
        ("notification", MintedWorld.notification()),
    ]

    private static func applies(_ fault: SignedPayloadFault, to template: any SignedPayloadTemplate) -> Bool {
        fault.applies(to: template)
    }

    /// The policy that detects a fault which only a policy can detect.
    private static func policies(_ fault: TransactionReceiptFault) -> [any PurchasePolicy] {
        switch fault {
        case .wrongBundleID, .missingBundleID: [BundleIDPolicy("com.example.app")]
        default: []
        }
    }

    private static func policies(_ fault: SignedPayloadFault) -> [any PurchasePolicy] {
        switch fault {
        case .wrongBundleID, .missingBundleID: [BundleIDPolicy("com.example.app")]
        case .xcodeEnvironment: [EnvironmentPolicy(accepting: [.production, .sandbox])]
        default: []
        }
    }

    private static func code(_ fault: TransactionReceiptFault, _ version: MintedVersion) -> ReasonCode {
        switch fault {
        case .wrongRoot: .certificateSignatureInvalid
        case .ownCertificate: .issuerUnknown
        case .missingLeafMarker, .developerCertificate: .leafMarkerMissing
        case .expiredLeaf: .certificateExpired
        case .leafNotYetValid: .certificateNotYetValid
        // The length of the signature depends on the version, so a key of another size is detected there first.
        case .wrongKeySize: .signatureFieldMalformed
        case .foreignSignature, .wrongDigest, .flippedSignatureByte, .flippedPurchaseInfoByte, .editedPurchaseInfo:
            .signatureInvalid
        case .swappedVersion: version == .four ? .signatureInvalid : .signatureFieldMalformed
        case .unknownVersion: .signatureVersionUnsupported
        case .wrongCertificateLength, .trailingSignatureBytes, .truncatedSignature: .signatureFieldMalformed
        case .missingSignature, .missingPurchaseInfo: .transactionReceiptFieldMissing
        case .duplicatePurchaseInfo, .duplicateKey: .propertyListKeyDuplicated
        case .truncated, .deeplyNested, .purchaseInfoNotADictionary: .propertyListMalformed
        case .trailingBytes: .trailingBytes
        case .oversized: .evidenceTooLarge
        case .wrongBundleID: .bundleIDMismatch
        case .missingBundleID, .missingProductID, .missingTransactionID: .attributeMissing
        case .missingPurchaseDate, .malformedDate: .creationDateMissing
        }
    }

    /// - Parameter isEnvelope: whether it contains nested data, which a change in the envelope contradicts.
    private static func code(_ fault: SignedPayloadFault, isEnvelope: Bool) -> ReasonCode {
        switch fault {
        // The embedded root has issued the chain, so only its key is unknown.
        case .wrongRoot, .forgedNestedData: .issuerUnknown
        case .ownLeaf: .certificateSignatureInvalid
        case .missingLeafMarker, .developerCertificate: .leafMarkerMissing
        case .missingIntermediateMarker: .intermediateMarkerMissing
        case .expiredChain, .expiredLeaf, .expiredIntermediate: .certificateExpired
        case .leafNotYetValid: .certificateNotYetValid
        case .notAnAuthority: .issuerNotAuthority
        // The intermediate, used as the leaf, may only sign certificates.
        case .swappedX5C: .keyUsageUnsuitable
        case .x5cOfOne: .issuerUnknown
        case .x5cOfTwo, .x5cOfFour: .jwsCertificateCountUnsupported
        case .missingX5C: .certificatesMissing
        case .foreignSignature, .embeddedKey, .flippedSignatureByte, .reusedSignature, .zeroSignature,
            .flippedPayloadByte, .editedClaims:
            .signatureInvalid
        // ES256 has 64 bytes.
        case .derSignature, .longSignature: .jwsMalformed
        case .algNone, .hs256WithPublicKey, .algES384, .algRS256: .jwsAlgorithmUnsupported
        case .truncated, .fourthPart, .paddedBase64: .jwsMalformed
        case .wrongBundleID: isEnvelope ? .nestedDataMismatch : .bundleIDMismatch
        case .missingBundleID: isEnvelope ? .nestedDataMismatch : .attributeMissing
        case .xcodeEnvironment: isEnvelope ? .nestedDataMismatch : .environmentNotAccepted
        case .missingSignedDate: .creationDateMissing
        case .payloadNotJSON, .deeplyNested: .claimsMalformed
        case .oversized: .evidenceTooLarge
        case .nestedDataOfAnotherApp: .nestedDataMismatch
        }
    }
}
