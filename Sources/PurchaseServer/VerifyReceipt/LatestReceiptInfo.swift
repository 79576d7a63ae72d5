import PurchaseAPI
import PurchaseVerification

/// `latest_receipt_info` as far as the receipt itself goes: what was bought by the time it was signed, newest first.
enum LatestReceiptInfo {
    /// - Parameter excludingOld: of each subscription only the latest period.
    static func purchases(
        of receipt: AppReceipt, excludingOld: Bool
    ) -> [VerifyReceiptResponse.InAppPurchase] {
        let newestFirst = receipt.inAppPurchases.enumerated().sorted { left, right in
            let (leftDate, rightDate) = (left.element.purchaseDate, right.element.purchaseDate)
            // Purchases of the same moment stay in the order of the receipt.
            guard leftDate != rightDate else { return left.offset < right.offset }
            guard let leftDate else { return false }
            guard let rightDate else { return true }
            return leftDate > rightDate
        }
        var seen: Set<String> = []
        return newestFirst.compactMap { _, purchase in
            if excludingOld, purchase.isAutoRenewable {
                let subscription = purchase.originalTransactionID ?? purchase.transactionID
                guard seen.insert(subscription).inserted else { return nil }
            }
            return VerifyReceiptResponse.InAppPurchase(purchase)
        }
    }
}

extension InAppPurchaseContent {
    /// Whether the purchase is a period of an auto-renewable subscription. Xcode's receipts do not say what kind a product is,
    /// but only these have an end.
    var isAutoRenewable: Bool {
        switch productType {
        case .autoRenewableSubscription: true
        case nil: expiresDate != nil
        default: false
        }
    }
}
