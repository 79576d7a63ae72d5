/// A fault of a receipt. A fault breaks one thing and leaves everything else correct.
///
/// The raw value is the name of the fault on the command line.
public enum ReceiptFault: String, CaseIterable, Sendable {
    // MARK: Certificates

    /// The chain ends at another root: an authority with the same names, but different keys.
    case wrongRoot = "wrong-root"
    /// The leaf lacks the marker of receipt signing, 1.2.840.113635.100.6.11.1.
    case missingLeafMarker = "missing-leaf-marker"
    /// The intermediate lacks its marker, 1.2.840.113635.100.6.2.1.
    case missingIntermediateMarker = "missing-intermediate-marker"
    /// The leaf had expired a day before the receipt was created.
    case expiredLeaf = "expired-leaf"
    /// The leaf becomes valid a day after the receipt was created.
    case leafNotYetValid = "leaf-not-yet-valid"
    /// The intermediate had expired a day before the receipt was created.
    case expiredIntermediate = "expired-intermediate"
    /// The leaf is a developer's certificate for signing code, from the same intermediate, without receipt marker.
    case developerCertificate = "developer-certificate"
    /// The intermediate's basic constraints say that it is not an authority.
    case notAnAuthority = "not-an-authority"
    /// There is a second intermediate below the first, whose path length is 0.
    case pathLengthExceeded = "path-length-exceeded"
    /// The intermediate's key usage does not allow it to sign certificates.
    case intermediateKeyUsage = "intermediate-key-usage"
    /// The leaf's key usage does not allow it to sign data.
    case leafKeyUsage = "leaf-key-usage"
    /// The leaf has an unknown critical extension: 2.999.1, from the arc reserved for examples.
    case unknownCriticalExtension = "unknown-critical-extension"
    /// The leaf names another issuer than the intermediate that signed it. The signer's issuer is the leaf's.
    case wrongIssuerName = "wrong-issuer-name"
    /// The leaf's key has 1024 bits.
    case weakLeafKey = "weak-leaf-key"
    /// Nine authorities with P-384 keys and two names have issued each other and the leaf, to make the search for a
    /// path expensive.
    case crossSigned = "cross-signed"

    // MARK: Bytes

    /// One bit of the signed payload was changed, in a value that only Apple can read.
    case flippedPayloadByte = "flipped-payload-byte"
    /// One bit in the middle of the signature was changed.
    case flippedSignatureByte = "flipped-signature-byte"
    /// One bit of the leaf was changed, in the last letter of its subject.
    case flippedLeafCertificateByte = "flipped-leaf-certificate-byte"
    /// The last byte is missing.
    case truncated
    /// Four bytes follow the end.
    case trailingBytes = "trailing-bytes"
    /// The length of the set of digest algorithms takes an octet more than it needs, which DER forbids.
    case nonMinimalLength = "non-minimal-length"

    // MARK: Signers

    /// The set of digest algorithms names another digest than the signer does.
    case digestMismatch = "digest-mismatch"
    /// The signature algorithm names a different digest than the one in use.
    case signatureAlgorithmMismatch = "signature-algorithm-mismatch"
    /// The signature was made with a key that is not the leaf's.
    case foreignSignature = "foreign-signature"
    /// There is no signer.
    case noSigner = "no-signer"
    /// The signer appears twice.
    case twoSigners = "two-signers"
    /// The signer's certificate is not embedded.
    case signerNotEmbedded = "signer-not-embedded"
    /// No certificates are embedded; the field is omitted.
    case noCertificates = "no-certificates"
    /// The leaf is embedded twice.
    case duplicateCertificate = "duplicate-certificate"
    /// The content is declared to be digested data, not data.
    case wrongContentType = "wrong-content-type"
    /// Attributes are signed, but the message digest, which ties them to the content, is not among them.
    case signedAttributesWithoutDigest = "signed-attributes-without-digest"
    /// Attributes are signed, and their message digest is not that of the content.
    case wrongMessageDigest = "wrong-message-digest"

    // MARK: Payload, correctly signed

    /// Attribute 12 is missing.
    case missingCreationDate = "missing-creation-date"
    /// Attribute 2 is missing. The device hash is the one with the bundle identifier.
    case missingBundleID = "missing-bundle-id"
    /// Attribute 0 is missing.
    case missingReceiptType = "missing-receipt-type"
    /// There is a second attribute 2, with another bundle identifier.
    case duplicateAttribute = "duplicate-attribute"
    /// The creation date, attribute 12, has the right form and names a day that does not exist.
    case malformedDate = "malformed-date"
    /// No purchase has a transaction identifier, attribute 1703. If there are no purchases, one is added.
    case noTransactionID = "no-transaction-id"
    /// The payload is a SEQUENCE of attributes, not a SET.
    case payloadNotASet = "payload-not-a-set"
}
