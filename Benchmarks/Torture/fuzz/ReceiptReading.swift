import HostileBytes
import PurchaseVerification

/// Reads a receipt through every accessor, and compares the values with those of an independent reader.
enum ReceiptReading {
    static func check<Trust>(_ receipt: AppReceiptContent<Trust>) {
        let attributes = receipt.attributes
        let purchases = receipt.inAppPurchases
        demand(attributes.count { $0.type == 17 } == purchases.count, "purchases were lost or invented")
        touch(receipt)
        for (attribute, purchase) in zip(attributes.filter { $0.type == 17 }, purchases) {
            demand(
                DERTree(tag: 0x31, children: purchase.attributes.map(element)).bytes == attribute.value,
                "a purchase does not re-serialise to what was read")
            demand(!purchase.productID.isEmpty && !purchase.transactionID.isEmpty, "a purchase without a name")
            touch(purchase)
        }
        if let date = receipt.creationDate { checkDate(date, attributes.first { $0.type == 12 }) }
    }

    /// The attribute in DER.
    static func element(_ attribute: ReceiptAttribute) -> DERTree {
        DERTree(
            tag: 0x30,
            children: [
                DERTree(tag: 0x02, content: integer(attribute.type)),
                DERTree(tag: 0x02, content: integer(attribute.version)),
                DERTree(tag: 0x04, content: attribute.value),
            ])
    }

    private static func integer(_ value: Int64) -> [UInt8] {
        var bytes = withUnsafeBytes(of: value.bigEndian) { Array($0) }
        while bytes.count > 1, (bytes[0] == 0 && bytes[1] < 0x80) || (bytes[0] == 0xFF && bytes[1] >= 0x80) {
            bytes.removeFirst()
        }
        return bytes
    }

    /// A date in the usual form is written as it was read.
    private static func checkDate(_ date: AppStoreTime, _ attribute: ReceiptAttribute?) {
        guard let attribute, case .text(let text) = attribute.content, text.utf8.count == 20 else { return }
        demand(date.description == text, "\(text) was read as \(date)")
    }

    private static func touch<Trust>(_ receipt: AppReceiptContent<Trust>) {
        _ = (receipt.receiptType, receipt.environment?.name, receipt.bundleID, receipt.applicationVersion)
        _ = (receipt.originalApplicationVersion, receipt.opaqueValue, receipt.deviceHash, receipt.appAppleID)
        _ = (receipt.sentReceiptCreationDate?.description, receipt.originalPurchaseDate?.description)
        _ = (receipt.expirationDate?.description, receipt.downloadID, receipt.versionExternalIdentifier)
        _ = (receipt.ageRating, receipt.sellerID, receipt.store)
        for attribute in receipt.attributes { _ = attribute.content }
    }

    private static func touch<Trust>(_ purchase: InAppPurchaseContent<Trust>) {
        _ = (purchase.quantity, purchase.originalTransactionID, purchase.productType, purchase.productAppleID)
        _ = (purchase.purchaseDate?.description, purchase.originalPurchaseDate?.description)
        _ = (purchase.expiresDate?.description, purchase.cancellationDate?.description)
        _ = (purchase.webOrderLineItemID, purchase.isTrialPeriod, purchase.isInIntroOfferPeriod)
        _ = (purchase.offerIdentifier, purchase.ownershipType)
        for attribute in purchase.attributes { _ = attribute.content }
    }
}
