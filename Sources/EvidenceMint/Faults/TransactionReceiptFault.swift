/// A fault of a transaction receipt. A fault breaks one thing and leaves everything else correct.
///
/// The raw value is the name of the fault on the command line.
public enum TransactionReceiptFault: String, CaseIterable, Sendable {
    // MARK: Certificates

    /// The leaf was issued by an authority with the same name, but a different key.
    case wrongRoot = "wrong-root"
    /// The leaf names the root as its issuer, but no authority signed it: the forgery of 2012.
    case ownCertificate = "own-certificate"
    /// The leaf lacks the marker of its version.
    case missingLeafMarker = "missing-leaf-marker"
    /// The leaf had expired a day before the purchase.
    case expiredLeaf = "expired-leaf"
    /// The leaf becomes valid a day after the purchase.
    case leafNotYetValid = "leaf-not-yet-valid"
    /// The leaf is a developer's certificate for signing code, from the same intermediate, without a receipt marker.
    case developerCertificate = "developer-certificate"
    /// The leaf's key has a size that belongs to another version: 2048 bits in version 2, 1024 in versions 3 and 4.
    case wrongKeySize = "wrong-key-size"

    // MARK: Signature

    /// The signature was made with a key that is not the leaf's.
    case foreignSignature = "foreign-signature"
    /// The signature is over the digest of another version: SHA-256 in versions 2 and 3, SHA-1 in version 4.
    case wrongDigest = "wrong-digest"
    /// The version byte was changed after signing: 3 to 2, 2 and 4 to 3.
    case swappedVersion = "swapped-version"
    /// The version byte, which is signed, names a version that does not exist: 5.
    case unknownVersion = "unknown-version"
    /// The declared length of the certificate is one byte too long.
    case wrongCertificateLength = "wrong-certificate-length"
    /// Four bytes follow the certificate in the signature's field.
    case trailingSignatureBytes = "trailing-signature-bytes"
    /// The signature's field ends in the middle of the certificate.
    case truncatedSignature = "truncated-signature"
    /// One bit in the middle of the signature was changed.
    case flippedSignatureByte = "flipped-signature-byte"
    /// The signature is missing.
    case missingSignature = "missing-signature"

    // MARK: Content, changed after signing

    /// One bit of purchase-info was changed, in the last character of the product.
    case flippedPurchaseInfoByte = "flipped-purchase-info-byte"
    /// The product was replaced in purchase-info, and the signature kept, as tools on jailbroken devices do.
    case editedPurchaseInfo = "edited-purchase-info"
    /// purchase-info is missing.
    case missingPurchaseInfo = "missing-purchase-info"
    /// There is a second, unsigned purchase-info with another product.
    case duplicatePurchaseInfo = "duplicate-purchase-info"

    // MARK: Bytes

    /// The last byte is missing, which closes the list.
    case truncated
    /// Four bytes follow the end.
    case trailingBytes = "trailing-bytes"
    /// The list holds lists in lists, 10,000 deep.
    case deeplyNested = "deeply-nested"
    /// The list has an entry of 16 MiB.
    case oversized

    // MARK: Content, correctly signed

    /// The receipt belongs to another app.
    case wrongBundleID = "wrong-bundle-id"
    /// The bundle identifier is missing.
    case missingBundleID = "missing-bundle-id"
    /// The product identifier is missing.
    case missingProductID = "missing-product-id"
    /// The transaction identifier is missing. The original one is present.
    case missingTransactionID = "missing-transaction-id"
    /// The purchase date is missing in all three forms.
    case missingPurchaseDate = "missing-purchase-date"
    /// The purchase date names a day that does not exist, and its milliseconds are not a number.
    case malformedDate = "malformed-date"
    /// There are two product identifiers, and they differ.
    case duplicateKey = "duplicate-key"
    /// The signed content is a list of values instead of a dictionary.
    case purchaseInfoNotADictionary = "purchase-info-not-a-dictionary"
}

extension TransactionReceiptFault {
    /// The fault, in one English sentence, for people who choose a fault by its name.
    public var explanation: String {
        switch self {
        case .wrongRoot: "The leaf was issued by another authority with the same name."
        case .ownCertificate: "The leaf names the root as its issuer, but is self-made."
        case .missingLeafMarker: "The leaf lacks the marker of its version."
        case .expiredLeaf: "The leaf had expired at the time of the purchase."
        case .leafNotYetValid: "The leaf was not yet valid at the time of the purchase."
        case .developerCertificate: "The signer is a developer's certificate, not one for receipts."
        case .wrongKeySize: "The leaf's key has the size of another version."
        case .foreignSignature: "The signature was made with a key that is not the leaf's."
        case .wrongDigest: "The signature was made over the digest of another version."
        case .swappedVersion: "The version was changed after signing."
        case .unknownVersion: "The version does not exist."
        case .wrongCertificateLength: "The declared length of the certificate is too long."
        case .trailingSignatureBytes: "Four bytes follow the certificate."
        case .truncatedSignature: "The signature field ends within the certificate."
        case .flippedSignatureByte: "One bit of the signature was changed."
        case .missingSignature: "There is no signature."
        case .flippedPurchaseInfoByte: "One bit of the product was changed after signing."
        case .editedPurchaseInfo: "The product was replaced after signing."
        case .missingPurchaseInfo: "The signed content is missing."
        case .duplicatePurchaseInfo: "There is a second, unsigned content."
        case .truncated: "The last byte is missing."
        case .trailingBytes: "Four bytes follow the end."
        case .deeplyNested: "The list is nested 10,000 levels deep."
        case .oversized: "The list has an entry of 16 MiB."
        case .wrongBundleID: "The receipt belongs to another app."
        case .missingBundleID: "The receipt has no bundle identifier."
        case .missingProductID: "The receipt has no product identifier."
        case .missingTransactionID: "The receipt has no transaction identifier."
        case .missingPurchaseDate: "The receipt has no purchase date."
        case .malformedDate: "The purchase date is a day that does not exist."
        case .duplicateKey: "The receipt has two product identifiers."
        case .purchaseInfoNotADictionary: "The signed content is a list of values instead of a dictionary."
        }
    }
}
