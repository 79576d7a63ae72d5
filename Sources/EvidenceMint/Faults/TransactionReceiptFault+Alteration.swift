import Foundation

extension TransactionReceiptFault {
    /// Changes the content before it is signed; the signature will be valid.
    func alterContent(of plan: inout TransactionReceiptPlan) {
        switch self {
        case .wrongBundleID:
            plan.template.bundleID = (plan.template.bundleID ?? "com.example") + ".other"
        case .missingBundleID:
            plan.template.omitted.insert("bid")
        case .missingProductID:
            plan.template.omitted.insert("product-id")
        case .missingTransactionID:
            plan.template.omitted.insert("transaction-id")
        case .missingPurchaseDate:
            plan.template.omitted.formUnion(Self.purchaseDateKeys)
        case .malformedDate:
            plan.template.omitted.formUnion(Self.purchaseDateKeys)
            plan.template.extraEntries += [
                .init("purchase-date", "2024-02-30 12:00:00 Etc/GMT"),
                .init("purchase-date-ms", "2024-02-30"),
                .init("purchase-date-pst", "2024-02-30 04:00:00 America/Los_Angeles"),
            ]
        case .duplicateKey:
            plan.template.extraEntries.append(.init("product-id", Self.other(plan.template)))
        case .purchaseInfoNotADictionary:
            plan.purchaseInfo = Array("(\n\t\"com.example\"\n)".utf8)
        default:
            break
        }
    }

    /// Replaces certificates and keys. The certificates keep their serial numbers, as a forger's would.
    /// - Throws: the errors of the crypto library if a key cannot be made or cannot sign.
    func alterAuthority(of plan: inout TransactionReceiptPlan) throws {
        let purchased = plan.template.purchaseDate ?? Self.fallbackDate
        switch self {
        case .wrongRoot:
            try plan.replaceLeaf(issuerKey: try ForeignKeys.authority.get().intermediate) { _ in }
        case .ownCertificate:
            let issuer = plan.root.subject
            let key = plan.leaf.privateKey
            try plan.replaceLeaf(issuerKey: key) { $0.issuer = issuer }
        case .missingLeafMarker:
            try plan.replaceLeaf { $0.markers = [] }
        case .expiredLeaf:
            try plan.replaceLeaf { $0.expire(before: purchased) }
        case .leafNotYetValid:
            try plan.replaceLeaf { $0.begin(after: purchased) }
        case .developerCertificate:
            try plan.replaceLeaf { $0.becomeDevelopers() }
        case .wrongKeySize:
            let isSmall = plan.version == .two
            let key = isSmall ? try ForeignKeys.authority.get().leaf : try ForeignKeys.weak.get()
            try plan.replaceLeaf(key: key) { _ in }
        case .foreignSignature:
            plan.signerKey =
                plan.version == .two ? try ForeignKeys.weak.get() : try ForeignKeys.authority.get().leaf
        case .wrongDigest:
            plan.digest = plan.version == .four ? .sha1 : .sha256
        case .unknownVersion:
            plan.versionByte = 5
        default:
            break
        }
    }

    /// Changes the receipt after it was signed.
    func alter(_ message: inout TransactionReceiptMessage, of plan: TransactionReceiptPlan) {
        switch self {
        case .swappedVersion:
            message.version = plan.version == .three ? 2 : 3
        case .wrongCertificateLength:
            message.certificateLength = UInt32(truncatingIfNeeded: message.certificate.count + 1)
        case .trailingSignatureBytes:
            message.signatureTail = [0xDE, 0xAD, 0xBE, 0xEF]
        case .truncatedSignature:
            message.certificateLength = UInt32(truncatingIfNeeded: message.certificate.count)
            message.certificate.removeLast(message.certificate.count / 2)
        case .flippedSignatureByte:
            message.signature.flipBit(at: message.signature.count / 2)
        case .missingSignature:
            message.hasSignature = false
        case .missingPurchaseInfo:
            message.hasPurchaseInfo = false
        case .flippedPurchaseInfoByte:
            message.purchaseInfo.flipBit(at: Self.lastOfProduct(in: message.purchaseInfo, of: plan.template))
        case .editedPurchaseInfo:
            message.purchaseInfo = Self.edited(plan.template)
        case .duplicatePurchaseInfo:
            message.extraEntries.append(
                TransactionReceiptMessage.base64("purchase-info", Self.edited(plan.template)))
        case .deeplyNested:
            message.extraEntries.append(
                OldStylePropertyList.Entry("nested", raw: OldStylePropertyList.nestedLists(depth: 10_000)))
        case .oversized:
            let padding = [UInt8](repeating: UInt8(ascii: "A"), count: 16 << 20)
            message.extraEntries.append(OldStylePropertyList.Entry("padding", raw: padding))
        default:
            break
        }
    }

    /// Changes the finished bytes.
    func alter(_ bytes: inout [UInt8]) {
        switch self {
        case .truncated:
            bytes.removeLast()
        case .trailingBytes:
            bytes += [0xDE, 0xAD, 0xBE, 0xEF]
        default:
            break
        }
    }

    private static let purchaseDateKeys = ["purchase-date", "purchase-date-ms", "purchase-date-pst"]

    /// Replaces the purchase date of a receipt without one: 2024-01-01T00:00:00Z.
    private static let fallbackDate = Date(timeIntervalSince1970: 1_704_067_200)

    private static func other(_ template: TransactionReceiptTemplate) -> String {
        (template.productID ?? "product") + ".premium"
    }

    private static func edited(_ template: TransactionReceiptTemplate) -> [UInt8] {
        var template = template
        template.productID = other(template)
        return template.purchaseInfo()
    }

    /// The end of the product; changing a bit there leaves the list readable.
    private static func lastOfProduct(in bytes: [UInt8], of template: TransactionReceiptTemplate) -> Int {
        let value = Array("\"product-id\" = \"\(template.productID ?? "")".utf8)
        let last = bytes.count - value.count
        guard last >= 0, let start = (0...last).first(where: { bytes[$0...].starts(with: value) }) else {
            return bytes.count - 1
        }
        return start + value.count - 1
    }
}

extension TransactionReceiptPlan {
    /// Certifies the leaf again.
    /// - Parameters:
    ///   - key: the leaf's key; nil keeps it.
    ///   - issuerKey: the key that signs; nil means the issuer's.
    fileprivate mutating func replaceLeaf(
        key: SigningKey? = nil,
        issuerKey: SigningKey? = nil,
        _ change: (inout CertificateTemplate) -> Void
    ) throws {
        var template = leaf.template ?? .transactionReceiptLeaf(version).adopting(leaf)
        change(&template)
        leaf = try SigningIdentity(
            template, key: key ?? leaf.privateKey, issuerKey: issuerKey ?? issuer.privateKey)
    }
}
