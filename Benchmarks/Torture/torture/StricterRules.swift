import PurchaseVerification

/// The reasons why the core refuses evidence whose signature and chain OpenSSL accepts. Any other code is a mistake of
/// one of the two: in particular, no code about signatures, issuers and dates is in this table.
enum StricterRules {
    static let reasons: [ReasonCode: String] = [
        // The bytes.
        .asn1Malformed:
            "receipts are DER, or BER in two named points; OpenSSL reads all of BER and skips what it need not read",
        .asn1LengthNotMinimal: "a receipt has one spelling; OpenSSL reads padded lengths",
        .asn1IntegerNotMinimal: "a receipt has one spelling; OpenSSL does not look at every integer",
        .asn1TooDeep: "nests have a budget",
        .trailingBytes: "what follows the end, or stands where nothing should, could mislead; OpenSSL stops reading",
        // The container.
        .signedDataVersionUnsupported: "receipts have version 1; OpenSSL does not look at it",
        .contentTypeUnsupported: "receipts hold plain data; OpenSSL takes any content",
        .tooManyCertificates: "certificates have a budget",
        .certificateDuplicated: "nobody embeds a certificate twice without a purpose",
        .signerCountUnsupported: "receipts have one signer; OpenSSL takes several",
        .signerIdentifierUnsupported: "receipts name issuer and serial number; OpenSSL does not look at the version",
        .signerCertificateAmbiguous: "the signer must be one certificate; OpenSSL takes the first",
        .digestAlgorithmUnsupported: "SHA-1 and SHA-2 with usual parameters; OpenSSL takes more",
        .digestAlgorithmMismatch: "the container announces the signer's digest and no other",
        .signatureAlgorithmUnsupported: "RSASSA-PKCS1-v1_5 with usual parameters; OpenSSL takes more",
        .signatureAlgorithmMismatch:
            "the name of the signature algorithm must not speak of another digest; OpenSSL ignores it",
        .signedAttributesMalformed: "the signed attributes are read strictly",
        // The requirements of a receipt.
        .payloadMalformed: "OpenSSL verifies any content; this is no set of receipt attributes",
        .creationDateMissing: "without a creation date nobody knows at which moment to judge the certificates",
        // The certificates.
        .certificateMalformed: "certificates are read strictly",
        .certificateAlgorithmMismatch:
            "the two names of the algorithm are compared byte for byte; OpenSSL compares what they mean",
        .certificateAlgorithmUnsupported: "certificates are signed with RSA or ECDSA and SHA-1 or SHA-2",
        .publicKeyUnacceptable:
            "RSA keys have 2,048 to 4,096 bit and the exponent 65,537; OpenSSL's default takes 1,024",
        .keyUsageUnsuitable: "a leaf must be allowed to sign; with purpose `any`, OpenSSL does not ask",
        .issuerNotAuthority: "an issuer needs basic constraints; OpenSSL takes a key usage instead",
        .pathTooLong: "paths have a budget",
        .pathBudgetExceeded: "paths have a budget",
    ]

    /// The rules of transaction receipts, of which OpenSSL checks only signature and certificate.
    static let ofTransactionReceipts: [ReasonCode: String] = [
        .propertyListMalformed: "the lists are read strictly; the other reader looks for two names",
        .propertyListKeyDuplicated: "a key twice says two things; the other reader takes the first",
        .transactionReceiptFieldUnknown: "nothing unsigned may stand there that could be taken for something else",
        .transactionReceiptFieldMissing: "the lists are read strictly; the other reader looks for two names",
        .signatureFieldMalformed: "the length of the certificate must be right; the other reader does not look at it",
        .signatureVersionUnsupported: "there are three versions",
        .purchaseInfoMalformed: "a date must be one",
        .leafMarkerMissing: "a leaf must be made for receipts, which OpenSSL does not know",
        .intermediateMarkerMissing: "each version has its authority, which OpenSSL does not know",
    ]

    /// The rules of signed data that Apple's library does not have.
    static let ofSignedPayload: [ReasonCode: String] = [
        .evidenceUnrecognized: "signed data begins with a JSON object; PyJWT skips what is no base64url",
        .base64Malformed: "signed data begins with a JSON object; PyJWT skips what is no base64url",
        .evidenceUnsupported: "signed data begins with a JSON object; PyJWT skips what is no base64url",
        .jwsMalformed: "base64url has one spelling; PyJWT skips foreign characters and does not look at unused bits",
        .jwsHeaderMalformed: "the header is read strictly; PyJWT takes more",
        .jwsHeaderUnsupported: "what is critical must be understood",
        .creationDateMissing: "without a date of signing, the caller must name one; Apple's library takes the present",
        .claimsMalformed: "a date of signing is a number within reason; Apple's library reads it otherwise",
        .certificateMalformed: "certificates are read strictly",
        .certificateAlgorithmMismatch:
            "the two names of the algorithm are compared byte for byte; OpenSSL compares what they mean",
        .asn1Malformed: "certificates are read strictly",
        .asn1LengthNotMinimal: "certificates are read strictly",
        .asn1IntegerNotMinimal: "certificates are read strictly",
        .trailingBytes: "nothing follows a certificate",
        .keyUsageUnsuitable: "a leaf must be allowed to sign, which Apple's library does not ask",
    ]

    /// The reasons, by their messages, why Apple's library refuses evidence that the core accepts.
    static let ofApplesLibrary: [String: String] = [
        "Missing Authority Key Identifier":
            "OpenSSL's strict profile demands key identifiers, which the library's own test certificates lack",
        "Missing Subject Key Identifier":
            "OpenSSL's strict profile demands key identifiers, which the library's own test certificates lack",
    ]

    /// The reasons why the core may not find a signer that OpenSSL finds.
    static let namesByByte =
        "the signer's name is compared byte for byte; OpenSSL compares what names mean, and rewrites BER in them"

    /// The reasons why the core accepts evidence that OpenSSL refuses.
    static let unreadCertificate = "a certificate that is on no path is not read; OpenSSL reads all that are embedded"
    static let rewrittenCertificate =
        "open lengths are rewritten in certificates, too; OpenSSL compares and checks them as they are spelled"
}
