import PurchaseVerification

extension TransactionReceiptContent where Trust == VerifiedContent {
    /// The statement about its only purchase.
    var statement: TransactionStatement? {
        guard let environment, let transactionID = ExactText(identifier: transactionID),
            let key = TransactionKey(
                environment: environment, transactionID: transactionID, purchaseDate: purchaseDate)
        else { return nil }
        let stamp = [purchaseDate, originalPurchaseDate, cancellationDate].compactMap(\.self).max() ?? .epoch
        var statement = TransactionStatement(key: key, source: .transactionReceipt, stamp: stamp)
        statement.bundleID = ExactText(identifier: bundleID)
        statement.originalTransactionID = ExactText(identifier: originalTransactionID)
        statement.productID = ExactText(identifier: productID)
        statement.subscriptionGroupID = ExactText(identifier: subscriptionGroupIdentifier)
        statement.purchaseDate = purchaseDate
        statement.originalPurchaseDate = originalPurchaseDate
        statement.quantity = quantity.map { Int64(clamping: $0) }
        statement.lineItemID = ExactText(lineItem: webOrderLineItemID)
        statement.ownershipType = ExactText(identifier: ownershipType?.rawValue)
        statement.offer = PurchaseOffer(isTrial: isTrialPeriod, isIntroductory: isInIntroOfferPeriod, identifier: nil)
        statement.productNumber = productAppleID == 0 ? nil : productAppleID
        statement.otherClaims = otherClaims
        statement.end = expiresDate
        statement.cancellation = cancellationDate
        return statement
    }

    private var otherClaims: [UInt8]? {
        var claims: [String: JSONValue] = [:]
        for (key, value) in attributes where !Self.isField(key) && !value.isEmpty { claims[key] = .string(value) }
        return CanonicalJSON.otherClaims(claims)
    }

    /// Whether the key's value is in a field of the statement, or the key identifies a device, which is not a fact of
    /// the purchase.
    private static func isField(_ key: String) -> Bool {
        TransactionReceiptKeys.fields.contains(key)
            || TransactionReceiptKeys.dates.contains { key.utf8.starts(with: $0.utf8) }
    }
}

/// The keys of a transaction receipt. A generic type has no stored properties of its own, and making the sets for each
/// key would take longer than the rest.
private enum TransactionReceiptKeys {
    static let fields: Set<String> = [
        "transaction-id", "original-transaction-id", "product-id", "bid", "quantity", "item-id",
        "web-order-line-item-id", "subscription-group-identifier", "is-trial-period", "is-in-intro-offer-period",
        "in-app-ownership-type", "unique-identifier", "unique-vendor-identifier",
    ]
    /// Each date is written several times, with different suffixes.
    static let dates = ["purchase-date", "original-purchase-date", "cancellation-date", "expires-date"]
}
