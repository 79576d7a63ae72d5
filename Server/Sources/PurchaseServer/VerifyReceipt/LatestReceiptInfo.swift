import PurchaseAPI
import PurchaseVerification

/// `latest_receipt_info` as far as the receipt itself goes: what was bought by the time it was signed, newest first.
enum LatestReceiptInfo {
    /// - Parameters:
    ///   - receipt: the receipt.
    ///   - answers: what is answered of each of its purchases, in the order of the receipt.
    ///   - excludingOld: of each subscription only the latest period.
    static func purchases(
        of receipt: AppReceipt, _ answers: [VerifyReceiptResponse.InAppPurchase], excludingOld: Bool
    ) -> [VerifyReceiptResponse.InAppPurchase] {
        let dates = receipt.inAppPurchases.map { $0.purchaseDate }
        let newestFirst = dates.indices.sorted { left, right in
            // Purchases of the same moment stay in the order of the receipt.
            guard dates[left] != dates[right] else { return left < right }
            guard let leftDate = dates[left] else { return false }
            guard let rightDate = dates[right] else { return true }
            return leftDate > rightDate
        }
        guard excludingOld else { return newestFirst.map { answers[$0] } }
        var seen: Set<String> = []
        return newestFirst.compactMap { position in
            let purchase = receipt.inAppPurchases[position]
            if purchase.isAutoRenewable {
                let subscription = purchase.originalTransactionID ?? purchase.transactionID
                guard seen.insert(subscription).inserted else { return nil }
            }
            return answers[position]
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
