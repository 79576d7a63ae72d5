public import Foundation

extension TransactionReceiptTemplate {
    /// The receipt of one purchase, with the keys that Apple writes today.
    ///
    /// The same parameters always make the same receipt; Apple's random values are derived from them.
    /// - Parameters:
    ///   - environment: `Production`, which gives the app numbers in the store; any other name is written outside of
    ///     the signed content, as `Sandbox` is.
    ///   - vendorIdentifier: the device as the developer sees it (`identifierForVendor`); nil leaves it out.
    public init(
        purchase: PurchaseTemplate,
        bundleID: String,
        bundleVersion: String = "1",
        environment: String = "Sandbox",
        vendorIdentifier: UUID? = nil
    ) {
        let isProduction = environment == "Production"
        transactionID = purchase.transactionID
        originalTransactionID = purchase.originalTransactionID
        productID = purchase.productID
        self.bundleID = bundleID
        self.bundleVersion = bundleVersion
        quantity = purchase.quantity
        purchaseDate = purchase.purchaseDate
        originalPurchaseDate = purchase.originalPurchaseDate
        expiresDate = purchase.expiresDate
        cancellationDate = purchase.cancellationDate
        itemID = purchase.productAdamID.flatMap { $0 == 0 ? nil : $0 } ?? 1_612_000_001
        if isProduction {
            appItemID = 1_234_567_890
            versionExternalIdentifier = 870_000_001
            pod = "43"
        } else {
            self.environment = environment
        }
        let seed = Array("unique identifier|\(vendorIdentifier?.uuidString ?? bundleID)".utf8)
        uniqueIdentifier = ReceiptDigest.sha1.hash(seed).map { Int($0).hexadecimal(2) }.joined()
        uniqueVendorIdentifier = vendorIdentifier?.uuidString
        if expiresDate != nil {
            webOrderLineItemID = purchase.webOrderLineItemID.map(String.init)
            subscriptionGroupIdentifier = "20749162"
        }
        isTrialPeriod = purchase.isTrialPeriod
        isInIntroOfferPeriod = purchase.isInIntroOfferPeriod ?? false
        inAppOwnershipType = purchase.ownershipType.map { $0 == .familyShared ? "FAMILY_SHARED" : "PURCHASED" }
    }
}

extension Int {
    fileprivate func hexadecimal(_ width: Int) -> String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}
