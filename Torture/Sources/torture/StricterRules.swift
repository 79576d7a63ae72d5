import PurchaseVerification

/// Why the core refuses what OpenSSL's verification of signature and chain accepts. Any other code that stands alone
/// against OpenSSL is a mistake of one of the two: above all, nothing about signatures, issuers and dates is in this
/// table.
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
        // What makes a receipt.
        .payloadMalformed: "OpenSSL verifies any content; this is no set of receipt attributes",
        .creationDateMissing: "without a creation date nobody knows at which moment to judge the certificates",
        // The certificates.
        .certificateMalformed: "certificates are read strictly",
        .certificateAlgorithmUnsupported: "certificates are signed with RSA or ECDSA and SHA-1 or SHA-2",
        .publicKeyUnacceptable:
            "RSA keys have 2,048 to 4,096 bit and the exponent 65,537; OpenSSL's default takes 1,024",
        .keyUsageUnsuitable: "a leaf must be allowed to sign; with purpose `any`, OpenSSL does not ask",
        .issuerNotAuthority: "an issuer needs basic constraints; OpenSSL takes a key usage instead",
        .pathTooLong: "paths have a budget",
        .pathBudgetExceeded: "paths have a budget",
    ]

    /// Why the core may miss a signer whom OpenSSL finds.
    static let namesByByte =
        "the signer's name is compared byte for byte; OpenSSL compares what names mean, and rewrites BER in them"

    /// Why the core accepts what OpenSSL refuses.
    static let unreadCertificate = "a certificate that is on no path is not read; OpenSSL reads all that are embedded"
    static let rewrittenCertificate =
        "open lengths are rewritten in certificates, too; OpenSSL compares and checks them as they are spelled"
}
