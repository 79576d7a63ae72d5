import Foundation

/// A fault of a transaction receipt. A fault breaks one thing and leaves everything else correct.
///
/// The raw value is the name of the fault on the command line, and `explanation` describes it.
public enum TransactionReceiptFault: String, CaseIterable, Sendable {
    case wrongRoot = "wrong-root"
    case ownCertificate = "own-certificate"
    case missingLeafMarker = "missing-leaf-marker"
    case expiredLeaf = "expired-leaf"
    case leafNotYetValid = "leaf-not-yet-valid"
    case developerCertificate = "developer-certificate"
    case wrongKeySize = "wrong-key-size"
    case foreignSignature = "foreign-signature"
    case wrongDigest = "wrong-digest"
    case swappedVersion = "swapped-version"
    case unknownVersion = "unknown-version"
    case wrongCertificateLength = "wrong-certificate-length"
    case trailingSignatureBytes = "trailing-signature-bytes"
    case truncatedSignature = "truncated-signature"
    case flippedSignatureByte = "flipped-signature-byte"
    case missingSignature = "missing-signature"
    case flippedPurchaseInfoByte = "flipped-purchase-info-byte"
    case editedPurchaseInfo = "edited-purchase-info"
    case missingPurchaseInfo = "missing-purchase-info"
    case duplicatePurchaseInfo = "duplicate-purchase-info"
    case truncated
    case trailingBytes = "trailing-bytes"
    case deeplyNested = "deeply-nested"
    case oversized
    case wrongBundleID = "wrong-bundle-id"
    case missingBundleID = "missing-bundle-id"
    case missingProductID = "missing-product-id"
    case missingTransactionID = "missing-transaction-id"
    case missingPurchaseDate = "missing-purchase-date"
    case malformedDate = "malformed-date"
    case duplicateKey = "duplicate-key"
    case purchaseInfoNotADictionary = "purchase-info-not-a-dictionary"

    /// The fault, in one English sentence, for people who choose a fault by its name.
    public var explanation: String { effect.explanation }
}

extension TransactionReceiptFault {
    var effect: FaultEffect<TransactionReceiptPlan, TransactionReceiptMessage> {
        switch self {
        // Certificates.
        case .wrongRoot:
            return .plan("The leaf was issued by another authority with the same name.") {
                try $0.replaceLeaf(issuerKey: try ForeignKeys.authority.get().intermediate) { _ in }
            }
        case .ownCertificate:
            // The forgery of 2012.
            return .plan("The leaf names the root as its issuer, but is self-made.") { plan in
                let issuer = plan.root.subject
                try plan.replaceLeaf(issuerKey: plan.leaf.privateKey) { $0.issuer = issuer }
            }
        case .missingLeafMarker:
            return .leaf("The leaf lacks the marker of its version.") { leaf, _ in leaf.markers = [] }
        case .expiredLeaf: return .expiredLeaf("The leaf had expired at the time of the purchase.")
        case .leafNotYetValid: return .leafNotYetValid("The leaf was not yet valid at the time of the purchase.")
        case .developerCertificate:
            return .developerCertificate("The signer is a developer's certificate, not one for receipts.")
        case .wrongKeySize:
            // 2048 bits in version 2, 1024 in versions 3 and 4.
            return .plan("The leaf's key has the size of another version.") {
                try $0.replaceLeaf(key: try $0.foreignKey(isOfOwnSize: false)) { _ in }
            }
        // Signature.
        case .foreignSignature:
            return .plan("The signature was made with a key that is not the leaf's.") {
                $0.signerKey = try $0.foreignKey(isOfOwnSize: true)
            }
        case .wrongDigest:
            return .plan("The signature was made over the digest of another version.") {
                $0.digest = $0.version == .four ? .sha1 : .sha256
            }
        case .swappedVersion:
            return .message("The version was changed after signing.") { $0.version = $1.version == .three ? 2 : 3 }
        case .unknownVersion: return .plan("The version does not exist.") { $0.versionByte = 5 }
        case .wrongCertificateLength:
            return .message("The declared length of the certificate is too long.") { message, _ in
                message.certificateLength = UInt32(truncatingIfNeeded: message.certificate.count + 1)
            }
        case .trailingSignatureBytes:
            return .message("Four bytes follow the certificate.") { message, _ in
                message.signatureTail = [0xDE, 0xAD, 0xBE, 0xEF]
            }
        case .truncatedSignature:
            return .message("The signature field ends within the certificate.") { message, _ in
                message.certificateLength = UInt32(truncatingIfNeeded: message.certificate.count)
                message.certificate.removeLast(message.certificate.count / 2)
            }
        case .flippedSignatureByte:
            return .message("One bit of the signature was changed.") { message, _ in
                message.signature.flipBit(at: message.signature.count / 2)
            }
        case .missingSignature: return .message("There is no signature.") { message, _ in message.hasSignature = false }
        // Content, changed after signing.
        case .flippedPurchaseInfoByte:
            // The end of the product: the list stays readable.
            return .message("One bit of the product was changed after signing.") { message, plan in
                let product = Array("\"product-id\" = \"\(plan.template.productID ?? "")".utf8)
                message.purchaseInfo.flipBit(at: message.purchaseInfo.end(of: product))
            }
        case .editedPurchaseInfo:
            // As tools on jailbroken devices do.
            return .message("The product was replaced after signing.") { $0.purchaseInfo = Self.edited($1.template) }
        case .missingPurchaseInfo:
            return .message("The signed content is missing.") { message, _ in message.hasPurchaseInfo = false }
        case .duplicatePurchaseInfo:
            return .message("There is a second, unsigned content.") {
                $0.extraEntries.append(TransactionReceiptMessage.base64("purchase-info", Self.edited($1.template)))
            }
        // Bytes.
        case .truncated: return .bytes("The last byte is missing.") { $0.removeLast() }
        case .trailingBytes: return .bytes("Four bytes follow the end.") { $0 += [0xDE, 0xAD, 0xBE, 0xEF] }
        case .deeplyNested:
            return .entry("The list is nested 10,000 levels deep.", "nested") {
                OldStylePropertyList.nestedLists(depth: 10_000)
            }
        case .oversized:
            return .entry("The list has an entry of 16 MiB.", "padding") {
                [UInt8](repeating: UInt8(ascii: "A"), count: 16 << 20)
            }
        // Content, correctly signed.
        case .wrongBundleID:
            return .plan("The receipt belongs to another app.") {
                $0.template.bundleID = ($0.template.bundleID ?? "com.example") + ".other"
            }
        case .missingBundleID: return .omitting("The receipt has no bundle identifier.", ["bid"])
        case .missingProductID: return .omitting("The receipt has no product identifier.", ["product-id"])
        case .missingTransactionID:
            // The original one is present.
            return .omitting("The receipt has no transaction identifier.", ["transaction-id"])
        case .missingPurchaseDate: return .omitting("The receipt has no purchase date.", Self.purchaseDateKeys)
        case .malformedDate:
            return .omitting(
                "The purchase date is a day that does not exist.", Self.purchaseDateKeys,
                insteadOf: [
                    .init("purchase-date", "2024-02-30 12:00:00 Etc/GMT"),
                    .init("purchase-date-ms", "2024-02-30"),
                    .init("purchase-date-pst", "2024-02-30 04:00:00 America/Los_Angeles"),
                ])
        case .duplicateKey:
            return .plan("The receipt has two product identifiers.") {
                $0.template.extraEntries.append(.init("product-id", Self.other($0.template)))
            }
        case .purchaseInfoNotADictionary:
            return .plan("The signed content is a list of values instead of a dictionary.") {
                $0.purchaseInfo = Array("(\n\t\"com.example\"\n)".utf8)
            }
        }
    }

    private static let purchaseDateKeys: Set = ["purchase-date", "purchase-date-ms", "purchase-date-pst"]

    private static func other(_ template: TransactionReceiptTemplate) -> String {
        (template.productID ?? "product") + ".premium"
    }

    private static func edited(_ template: TransactionReceiptTemplate) -> [UInt8] {
        var template = template
        template.productID = other(template)
        return template.purchaseInfo()
    }
}

extension FaultEffect<TransactionReceiptPlan, TransactionReceiptMessage> {
    /// `purchase-info` without some keys, and with others.
    fileprivate static func omitting(
        _ explanation: String, _ keys: Set<String>, insteadOf entries: [TransactionReceiptTemplate.Entry] = []
    ) -> Self {
        .plan(explanation) { plan in
            plan.template.omitted.formUnion(keys)
            plan.template.extraEntries += entries
        }
    }

    /// A further entry of the list.
    fileprivate static func entry(_ explanation: String, _ key: String, _ value: @escaping () -> [UInt8]) -> Self {
        .message(explanation) { message, _ in message.extraEntries.append(OldStylePropertyList.Entry(key, raw: value()))
        }
    }
}

extension TransactionReceiptPlan: CertifiedPlan {
    var certificateDate: Date? { template.purchaseDate }

    mutating func replaceLeaf(_ change: (inout CertificateTemplate) -> Void) throws {
        try replaceLeaf(key: nil, change)
    }

    /// A receipt has no intermediate.
    mutating func replaceIntermediate(_: (inout CertificateTemplate) -> Void) {}

    /// Certifies the leaf again.
    /// - Parameters:
    ///   - key: the leaf's key; nil keeps it.
    ///   - issuerKey: the key that signs; nil means the issuer's.
    fileprivate mutating func replaceLeaf(
        key: SigningKey? = nil, issuerKey: SigningKey? = nil, _ change: (inout CertificateTemplate) -> Void
    ) throws {
        leaf = try leaf.certified(
            .transactionReceiptLeaf(version), key: key, by: issuerKey ?? issuer.privateKey, change)
    }

    /// A key of the size that leaves of this version have, or of the other size: 1024 bits in version 2, 2048 later.
    fileprivate func foreignKey(isOfOwnSize: Bool) throws -> SigningKey {
        (version == .two) == isOfOwnSize ? try ForeignKeys.weak.get() : try ForeignKeys.authority.get().leaf
    }
}
