package import PurchaseAPI
package import PurchaseVerification

extension VerifyReceiptResponse.Receipt {
    /// The content of the receipt, in Apple's words.
    ///
    /// - Parameter requestDate: the time of the request; `nil` if there was none.
    package init<Trust>(_ receipt: AppReceiptContent<Trust>, requestDate: AppStoreTime?) {
        self.init()
        receiptType = receipt.receiptType
        adamID = receipt.appAppleID
        bundleID = receipt.bundleID
        applicationVersion = receipt.applicationVersion.flatMap { $0.isEmpty ? nil : $0 }
        downloadID = receipt.downloadID
        versionExternalIdentifier = receipt.versionExternalIdentifier
        receiptCreationDate = receipt.creationDate.map(AppleDate.init(ofReceipt:))
        self.requestDate = requestDate.map { AppleDate(millisecondsSince1970: $0.millisecondsSince1970) }
        originalPurchaseDate = receipt.originalPurchaseDate.map(AppleDate.init(ofReceipt:))
        originalApplicationVersion = receipt.originalApplicationVersion.flatMap { $0.isEmpty ? nil : $0 }
        expirationDate = receipt.expirationDate.map(AppleDate.init(ofReceipt:))
        inApp = receipt.inAppPurchases.map { VerifyReceiptResponse.InAppPurchase($0) }
    }
}

extension VerifyReceiptResponse.InAppPurchase {
    /// One purchase of the receipt, in Apple's words.
    package init<Trust>(_ purchase: InAppPurchaseContent<Trust>) {
        self.init(productID: purchase.productID, transactionID: purchase.transactionID)
        quantity = purchase.quantity
        originalTransactionID = purchase.originalTransactionID
        purchaseDate = purchase.purchaseDate.map(AppleDate.init(ofReceipt:))
        originalPurchaseDate = purchase.originalPurchaseDate.map(AppleDate.init(ofReceipt:))
        expiresDate = purchase.expiresDate.map(AppleDate.init(ofReceipt:))
        cancellationDate = purchase.cancellationDate.map(AppleDate.init(ofReceipt:))
        cancellationReason = purchase.cancellationReason.map { Int($0) }
        // For products that are not subscriptions, the receipt has 0 and the answer has no key.
        webOrderLineItemID = purchase.webOrderLineItemID.flatMap { $0 == "0" ? nil : UInt64($0) }
        isTrialPeriod = purchase.isTrialPeriod
        isInIntroOfferPeriod = purchase.isInIntroOfferPeriod
        promotionalOfferID = purchase.offerIdentifier.flatMap { $0.isEmpty ? nil : $0 }
        inAppOwnershipType =
            switch purchase.ownershipType {
            case .purchased, .familyShared: purchase.ownershipType?.rawValue
            default: nil
            }
    }
}

extension AppleDate {
    /// A date of a receipt: Apple answers with whole seconds, even if the receipt has a fraction.
    init(ofReceipt timestamp: AppStoreTime) {
        self = AppleDate(millisecondsSince1970: timestamp.millisecondsSince1970).inWholeSeconds
    }
}
