import PurchaseAPI
package import PurchaseVerification

/// `latest_receipt_info` as far as the receipt proves it: the purchases at the time of its signature, newest first.
enum LatestReceiptInfo {
    /// - Parameters:
    ///   - receipt: the receipt.
    ///   - answers: the answer for each of its purchases, in the order of the receipt.
    ///   - excludingOld: only the latest period of each subscription.
    static func purchases(
        of receipt: AppReceipt, _ answers: [VerifyReceiptResponse.InAppPurchase], excludingOld: Bool
    ) -> [VerifyReceiptResponse.InAppPurchase] {
        let dates = receipt.inAppPurchases.map { $0.purchaseDate }
        let newestFirst = dates.indices.sorted { left, right in
            // Purchases with the same date keep the order of the receipt.
            guard dates[left] != dates[right] else { return left < right }
            guard let leftDate = dates[left] else { return false }
            guard let rightDate = dates[right] else { return true }
            return leftDate > rightDate
        }
        guard excludingOld else { return newestFirst.map { answers[$0] } }
        // Only subscriptions have a latest entry: a recorded answer omits a consumable.
        var seen: Set<[UInt8]> = []
        return newestFirst.compactMap { position in
            let purchase = receipt.inAppPurchases[position]
            guard purchase.isAutoRenewable else { return nil }
            let subscription = purchase.originalTransactionID ?? purchase.transactionID
            return seen.insert(Array(subscription.utf8)).inserted ? answers[position] : nil
        }
    }
}

extension InAppPurchaseContent {
    /// Whether the purchase is a period of an auto-renewable subscription. Xcode's receipts do not state the kind of a
    /// product, but only these have an expiry date.
    package var isAutoRenewable: Bool {
        switch productType {
        case .autoRenewableSubscription: true
        case nil: expiresDate != nil
        default: false
        }
    }
}
