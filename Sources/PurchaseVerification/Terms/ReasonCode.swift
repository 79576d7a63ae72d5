/// The stable codes of all reasons to reject evidence, grouped by subject.
///
/// The raw value is the contract; it never changes its meaning. `docs/codes.md` lists the codes for users.
public enum ReasonCode: String, Sendable, CaseIterable {
    // Size and form of the evidence.
    case evidenceEmpty = "evidence_empty"
    case evidenceTooLarge = "evidence_too_large"
    case evidenceUnrecognized = "evidence_unrecognized"
    case evidenceUnsupported = "evidence_unsupported"
    case jwsInsteadOfReceipt = "jws_instead_of_receipt"
    case base64Malformed = "base64_malformed"

    // ASN.1.
    case asn1Truncated = "asn1_truncated"
    case asn1Malformed = "asn1_malformed"
    case asn1LengthNotMinimal = "asn1_length_not_minimal"
    case asn1IntegerNotMinimal = "asn1_integer_not_minimal"
    case asn1TooDeep = "asn1_too_deep"
    case trailingBytes = "trailing_bytes"

    // The CMS container (RFC 5652).
    case notSignedData = "not_signed_data"
    case signedDataVersionUnsupported = "signed_data_version_unsupported"
    case contentTypeUnsupported = "content_type_unsupported"
    case contentMissing = "content_missing"
    case certificatesMissing = "certificates_missing"
    case tooManyCertificates = "too_many_certificates"
    case certificateDuplicated = "certificate_duplicated"
    case signerCountUnsupported = "signer_count_unsupported"
    case signerIdentifierUnsupported = "signer_identifier_unsupported"
    case signerCertificateMissing = "signer_certificate_missing"
    case signerCertificateAmbiguous = "signer_certificate_ambiguous"
    case digestAlgorithmUnsupported = "digest_algorithm_unsupported"
    case digestAlgorithmMismatch = "digest_algorithm_mismatch"
    case signatureAlgorithmUnsupported = "signature_algorithm_unsupported"
    case signatureAlgorithmMismatch = "signature_algorithm_mismatch"
    case signedAttributesMalformed = "signed_attributes_malformed"

    // The date for the validity of the certificates.
    case payloadMalformed = "payload_malformed"
    case creationDateMissing = "creation_date_missing"

    // The certificate path (RFC 5280).
    case certificateMalformed = "certificate_malformed"
    case certificateAlgorithmMismatch = "certificate_algorithm_mismatch"
    case certificateAlgorithmUnsupported = "certificate_algorithm_unsupported"
    case publicKeyUnacceptable = "public_key_unacceptable"
    case issuerUnknown = "issuer_unknown"
    case certificateSignatureInvalid = "certificate_signature_invalid"
    case certificateNotYetValid = "certificate_not_yet_valid"
    case certificateExpired = "certificate_expired"
    case certificateJustExpired = "certificate_just_expired"
    case issuerNotAuthority = "issuer_not_authority"
    case pathLengthExceeded = "path_length_exceeded"
    case keyUsageUnsuitable = "key_usage_unsuitable"
    case criticalExtensionUnknown = "critical_extension_unknown"
    case pathTooLong = "path_too_long"
    case pathBudgetExceeded = "path_budget_exceeded"
    case leafMarkerMissing = "leaf_marker_missing"
    case intermediateMarkerMissing = "intermediate_marker_missing"

    // The signature over the content.
    case contentTypeMismatch = "content_type_mismatch"
    case messageDigestMismatch = "message_digest_mismatch"
    case signatureInvalid = "signature_invalid"

    // The content.
    case attributeMalformed = "attribute_malformed"
    case attributeDuplicated = "attribute_duplicated"
    case attributeMissing = "attribute_missing"
    case tooManyAttributes = "too_many_attributes"
    case tooManyPurchases = "too_many_purchases"
    case environmentNotVouchedFor = "environment_not_vouched_for"

    // The caller's policies.
    case environmentNotAccepted = "environment_not_accepted"
    case bundleIDMismatch = "bundle_id_mismatch"
    case applicationVersionMismatch = "application_version_mismatch"
    case deviceHashMismatch = "device_hash_mismatch"
    case receiptExpired = "receipt_expired"

    // Property lists of transaction receipts.
    case propertyListMalformed = "property_list_malformed"
    case propertyListKeyDuplicated = "property_list_key_duplicated"
    case transactionReceiptFieldMissing = "transaction_receipt_field_missing"
    case transactionReceiptFieldUnknown = "transaction_receipt_field_unknown"
    case signatureFieldMalformed = "signature_field_malformed"
    case purchaseInfoMalformed = "purchase_info_malformed"
    case signatureVersionUnsupported = "signature_version_unsupported"

    // Signed data (RFC 7515).
    case jwsMalformed = "jws_malformed"
    case jwsHeaderMalformed = "jws_header_malformed"
    case jwsAlgorithmUnsupported = "jws_algorithm_unsupported"
    case jwsHeaderUnsupported = "jws_header_unsupported"
    case jwsCertificateCountUnsupported = "jws_certificate_count_unsupported"

    // The claims of signed data.
    case claimsMalformed = "claims_malformed"
    case claimsUnrecognized = "claims_unrecognized"
    case nestedDataMismatch = "nested_data_mismatch"

    // More of the caller's policies.
    case appAppleIDMismatch = "app_apple_id_mismatch"
    case evidenceNotFresh = "evidence_not_fresh"
    case transactionMismatch = "transaction_mismatch"
    case transactionSeenBefore = "transaction_seen_before"
}

extension ReasonCode {
    /// The stage of a code. An interface with only a few answers (Apple's status codes) selects one by the stage.
    public enum Stage: String, Sendable, CaseIterable {
        /// The bytes are not well-formed evidence.
        case form
        /// The bytes are well formed, but no trusted authority vouches for them.
        case authenticity
        /// The evidence is genuine, but its content does not follow Apple's format.
        case content
        /// The evidence is genuine, but the caller does not accept it.
        case policy
    }

    /// The stage at which the code arises.
    public var stage: Stage {
        switch self {
        case .evidenceEmpty, .evidenceTooLarge, .evidenceUnrecognized, .evidenceUnsupported, .jwsInsteadOfReceipt,
            .base64Malformed, .asn1Truncated, .asn1Malformed, .asn1LengthNotMinimal, .asn1IntegerNotMinimal,
            .asn1TooDeep, .trailingBytes,
            .notSignedData, .signedDataVersionUnsupported, .contentTypeUnsupported, .contentMissing,
            .tooManyCertificates, .payloadMalformed, .propertyListMalformed, .propertyListKeyDuplicated,
            .transactionReceiptFieldMissing, .transactionReceiptFieldUnknown, .signatureFieldMalformed,
            .purchaseInfoMalformed, .jwsMalformed, .jwsHeaderMalformed:
            .form
        case .certificatesMissing, .certificateDuplicated, .signerCountUnsupported, .signerIdentifierUnsupported,
            .signerCertificateMissing, .signerCertificateAmbiguous, .digestAlgorithmUnsupported,
            .digestAlgorithmMismatch, .signatureAlgorithmUnsupported, .signatureAlgorithmMismatch,
            .signedAttributesMalformed, .creationDateMissing, .certificateMalformed, .certificateAlgorithmMismatch,
            .certificateAlgorithmUnsupported, .publicKeyUnacceptable, .issuerUnknown, .certificateSignatureInvalid,
            .certificateNotYetValid, .certificateExpired, .certificateJustExpired, .issuerNotAuthority,
            .pathLengthExceeded,
            .keyUsageUnsuitable, .criticalExtensionUnknown, .pathTooLong, .pathBudgetExceeded, .leafMarkerMissing,
            .intermediateMarkerMissing, .contentTypeMismatch, .messageDigestMismatch, .signatureInvalid,
            .environmentNotVouchedFor, .signatureVersionUnsupported, .jwsAlgorithmUnsupported, .jwsHeaderUnsupported,
            .jwsCertificateCountUnsupported:
            .authenticity
        case .attributeMalformed, .attributeDuplicated, .attributeMissing, .tooManyAttributes, .tooManyPurchases,
            .claimsMalformed, .claimsUnrecognized, .nestedDataMismatch:
            .content
        case .environmentNotAccepted, .bundleIDMismatch, .applicationVersionMismatch, .deviceHashMismatch,
            .receiptExpired, .appAppleIDMismatch, .evidenceNotFresh, .transactionMismatch, .transactionSeenBefore:
            .policy
        }
    }

    /// The meaning of the code, in a sentence.
    public var sentence: String {
        switch self {
        case .evidenceEmpty: "The evidence is empty."
        case .evidenceTooLarge: "The evidence is larger than any receipt may be."
        case .evidenceUnrecognized: "This is not a format in which the App Store signs purchases."
        case .evidenceUnsupported: "This kind of evidence cannot be verified here."
        case .jwsInsteadOfReceipt: "This is signed data of StoreKit 2 (a JWS), not an app receipt."
        case .base64Malformed: "The base64 text is damaged."
        case .asn1Truncated: "The receipt is cut off: its contents reach past its end."
        case .asn1Malformed: "The receipt is not well-formed ASN.1."
        case .asn1LengthNotMinimal: "A length is written in more bytes than it needs."
        case .asn1IntegerNotMinimal: "An integer is empty or written in more bytes than it needs."
        case .asn1TooDeep: "The receipt is nested more deeply than any receipt may be."
        case .trailingBytes: "Bytes follow the end of the receipt."
        case .notSignedData: "The container is not CMS signed data."
        case .signedDataVersionUnsupported: "The container has a version that receipts do not have."
        case .contentTypeUnsupported: "The container holds something other than plain data."
        case .contentMissing: "The container holds no content."
        case .certificatesMissing: "The container holds no certificates."
        case .tooManyCertificates: "The container holds more certificates than any receipt may."
        case .certificateDuplicated: "The container holds the same certificate twice."
        case .signerCountUnsupported: "A receipt has exactly one signer."
        case .signerIdentifierUnsupported: "The signer is not named by issuer and serial number."
        case .signerCertificateMissing: "The signer's certificate is not in the container."
        case .signerCertificateAmbiguous: "Two certificates have the signer's name and serial number."
        case .digestAlgorithmUnsupported: "The digest algorithm is not one that receipts are signed with."
        case .digestAlgorithmMismatch: "The digest algorithm of the signer is not announced by the container."
        case .signatureAlgorithmUnsupported: "The signature algorithm is not one that receipts are signed with."
        case .signatureAlgorithmMismatch: "The signature algorithm names another digest than the signer does."
        case .signedAttributesMalformed: "The signed attributes do not have the format that CMS prescribes."
        case .payloadMalformed: "The signed content is not a set of receipt attributes."
        case .creationDateMissing: "The signing date is missing or unreadable, so the certificates cannot be checked."
        case .certificateMalformed: "A certificate is not well-formed."
        case .certificateAlgorithmMismatch: "A certificate names two different signature algorithms."
        case .certificateAlgorithmUnsupported: "A certificate is signed with an algorithm that is not accepted."
        case .publicKeyUnacceptable: "A public key is of a kind or size that is not accepted."
        case .issuerUnknown: "The certificates do not lead to a trusted authority."
        case .certificateSignatureInvalid: "A certificate was not signed by the authority that it names."
        case .certificateNotYetValid: "A certificate was not yet valid when the receipt was made."
        case .certificateExpired: "A certificate had expired when the receipt was made."
        case .certificateJustExpired:
            "An authority had expired shortly before the evidence was signed, as happened to Apple; send it again later."
        case .issuerNotAuthority: "The issuer of a certificate is not a certificate authority."
        case .pathLengthExceeded: "A certificate path is longer than its authority allows."
        case .keyUsageUnsuitable: "The key usage of a certificate does not allow this use."
        case .criticalExtensionUnknown: "A certificate has a critical extension that is not understood."
        case .pathTooLong: "The certificate path is longer than any path of a receipt may be."
        case .pathBudgetExceeded: "The certificates take more signature checks than any receipt may."
        case .leafMarkerMissing: "The signing certificate is not marked for App Store receipts."
        case .intermediateMarkerMissing:
            "The issuer of the signing certificate is not Apple's developer relations authority."
        case .contentTypeMismatch: "The signed content type is not the type of the content."
        case .messageDigestMismatch: "The content was changed after it was signed."
        case .signatureInvalid: "The signature does not match the content."
        case .attributeMalformed: "An attribute has the wrong format for its type."
        case .attributeDuplicated: "An attribute that may occur once occurs twice."
        case .attributeMissing: "A required attribute is missing."
        case .tooManyAttributes: "The receipt has more attributes than any receipt may."
        case .tooManyPurchases: "The receipt has more purchases than any receipt may."
        case .environmentNotVouchedFor:
            "The signing authority is not trusted for the environment that the evidence names."
        case .environmentNotAccepted: "The receipt comes from an environment that is not accepted."
        case .bundleIDMismatch: "The receipt belongs to another app."
        case .applicationVersionMismatch: "The receipt belongs to another version of the app."
        case .deviceHashMismatch: "The receipt was made for another device."
        case .receiptExpired: "The receipt has expired."
        case .propertyListMalformed: "The property list is not well-formed."
        case .propertyListKeyDuplicated: "A property list has the same key twice."
        case .transactionReceiptFieldMissing: "The transaction receipt lacks a required field."
        case .transactionReceiptFieldUnknown:
            "The transaction receipt has an unsigned field that no genuine one has."
        case .signatureFieldMalformed:
            "The signature field of the transaction receipt is not version, signature and certificate."
        case .purchaseInfoMalformed: "The signed purchase info does not have the fields of a transaction receipt."
        case .signatureVersionUnsupported:
            "The signature version of the transaction receipt is unknown."
        case .jwsMalformed: "The signed data is not a compact JWS."
        case .jwsHeaderMalformed: "The header of the signed data cannot be read."
        case .jwsAlgorithmUnsupported: "The signed data names an algorithm other than ES256."
        case .jwsHeaderUnsupported: "The header of the signed data requires a feature that is not supported."
        case .jwsCertificateCountUnsupported: "Signed data must contain exactly three certificates."
        case .claimsMalformed: "The claims do not have the format that the App Store signs."
        case .claimsUnrecognized: "The App Store does not sign claims like these."
        case .nestedDataMismatch:
            "The signed data inside belongs to another app or environment than its envelope."
        case .appAppleIDMismatch: "The evidence names another app of the App Store."
        case .evidenceNotFresh: "The evidence was not signed recently enough."
        case .transactionMismatch: "The evidence does not prove this transaction."
        case .transactionSeenBefore: "The transaction was used before."
        }
    }
}
