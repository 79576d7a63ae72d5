/// Evidence of any kind that the verifier vouches for. Only `PurchaseVerifier` creates its values.
public enum VerifiedEvidence: Sendable, Equatable {
    case appReceipt(AppReceipt)
    case transactionReceipt(TransactionReceipt)
    case signedTransaction(SignedTransaction)
    case signedRenewalInfo(SignedRenewalInfo)
    case appTransaction(SignedAppTransaction)
    case notification(AppStoreNotification)
    case realtimeRequest(RealtimeRequest)

    public var kind: EvidenceKind {
        switch self {
        case .appReceipt: .appReceipt
        case .transactionReceipt: .transactionReceipt
        case .signedTransaction: .signedTransaction
        case .signedRenewalInfo: .signedRenewalInfo
        case .appTransaction: .appTransaction
        case .notification: .notification
        case .realtimeRequest: .realtimeRequest
        }
    }

    /// The facts that all kinds have in common.
    public var facts: any EvidenceFacts {
        switch self {
        case .appReceipt(let receipt): receipt
        case .transactionReceipt(let receipt): receipt
        case .signedTransaction(let transaction): SignedTransactionFacts(content: transaction)
        case .signedRenewalInfo(let renewalInfo): SignedRenewalInfoFacts(content: renewalInfo)
        case .appTransaction(let transaction): AppTransactionFacts(content: transaction)
        case .notification(let notification): notification
        case .realtimeRequest(let request): RealtimeRequestFacts(content: request)
        }
    }
}

/// What a code says about the purchase behind the evidence. Whoever finishes transactions must not take damage for
/// forgery: a finished transaction does not come again.
public enum EvidenceConclusion: String, Sendable, CaseIterable {
    /// The bytes could not be read or checked completely. They may be a damaged or cut copy of genuine evidence, or a
    /// format that this version does not know; another copy may be accepted.
    case unread
    /// A certificate or a signature proves that Apple did not sign these bytes as evidence of a purchase.
    case forged
    /// The evidence may be genuine, but is of an app, version, environment or authority that the caller does not
    /// accept.
    case notAccepted
    /// The evidence is genuine, and gives this customer nothing.
    case worthless
}

extension ReasonCode {
    /// What follows from the code. This list is the only place that decides it.
    public var conclusion: EvidenceConclusion {
        switch self {
        // The form: any cut, any change of encoding, and any other file ends here.
        case .evidenceEmpty, .evidenceTooLarge, .evidenceUnrecognized, .evidenceUnsupported, .jwsInsteadOfReceipt,
            .base64Malformed, .asn1Truncated, .asn1Malformed, .asn1LengthNotMinimal, .asn1IntegerNotMinimal,
            .asn1TooDeep, .trailingBytes, .notSignedData, .signedDataVersionUnsupported, .contentTypeUnsupported,
            .contentMissing, .tooManyCertificates, .payloadMalformed, .propertyListMalformed,
            .propertyListKeyDuplicated, .transactionReceiptFieldMissing, .transactionReceiptFieldUnknown,
            .signatureFieldMalformed, .purchaseInfoMalformed, .jwsMalformed, .jwsHeaderMalformed:
            .unread
        // Parts that are missing or damaged, so nothing can be proved with them.
        case .certificatesMissing, .signerCountUnsupported, .signerIdentifierUnsupported, .signerCertificateMissing,
            .signedAttributesMalformed, .creationDateMissing, .certificateMalformed:
            .unread
        // A format that is newer than this version, or a search that was stopped.
        case .digestAlgorithmUnsupported, .signatureAlgorithmUnsupported, .certificateAlgorithmUnsupported,
            .publicKeyUnacceptable, .criticalExtensionUnknown, .signatureVersionUnsupported, .jwsAlgorithmUnsupported,
            .jwsHeaderUnsupported, .jwsCertificateCountUnsupported, .pathTooLong, .pathBudgetExceeded:
            .unread
        // Apple's, or of somebody who has a key of Apple's that ended: in two days Apple signs it anew.
        case .certificateJustExpired: .unread
        // Signed by Apple, and not readable: the format has changed.
        case .attributeMalformed, .attributeDuplicated, .attributeMissing, .tooManyAttributes, .tooManyPurchases,
            .claimsMalformed, .claimsUnrecognized, .nestedDataMismatch:
            .unread
        case .certificateDuplicated, .signerCertificateAmbiguous, .digestAlgorithmMismatch,
            .signatureAlgorithmMismatch, .certificateAlgorithmMismatch, .certificateSignatureInvalid,
            .certificateNotYetValid, .certificateExpired, .issuerNotAuthority, .pathLengthExceeded,
            .keyUsageUnsuitable, .leafMarkerMissing, .intermediateMarkerMissing, .contentTypeMismatch,
            .messageDigestMismatch, .signatureInvalid:
            .forged
        case .issuerUnknown, .environmentNotVouchedFor, .environmentNotAccepted, .bundleIDMismatch,
            .applicationVersionMismatch, .appAppleIDMismatch:
            .notAccepted
        case .deviceHashMismatch, .receiptExpired, .transactionSeenBefore: .worthless
        // Newer evidence, or evidence with the transaction, may still come.
        case .evidenceNotFresh, .transactionMismatch: .unread
        }
    }
}
