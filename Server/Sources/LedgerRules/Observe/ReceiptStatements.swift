import PurchaseVerification

extension AppReceiptContent where Trust == VerifiedContent {
    /// One statement for each purchase.
    var statements: [TransactionStatement] {
        guard let environment else { return [] }
        let bundleID = ExactText(identifier: bundleID)
        return inAppPurchases.compactMap { $0.statement(in: environment, bundleID: bundleID) }.markingUpgrades
    }
}

extension InAppPurchaseContent where Trust == VerifiedContent {
    fileprivate func statement(in environment: AppStoreEnvironment, bundleID: ExactText?) -> TransactionStatement? {
        guard let transactionID = ExactText(identifier: transactionID),
            let key = TransactionKey(
                environment: environment, transactionID: transactionID, purchaseDate: purchaseDate)
        else { return nil }
        let stamp = [purchaseDate, originalPurchaseDate, cancellationDate].compactMap(\.self).max() ?? .epoch
        var statement = TransactionStatement(key: key, source: .appReceipt, stamp: stamp)
        statement.bundleID = bundleID
        statement.originalTransactionID = ExactText(identifier: originalTransactionID)
        statement.productID = ExactText(identifier: productID)
        statement.kind = productType.flatMap(ProductKind.init(stated:))
        statement.purchaseDate = purchaseDate
        statement.originalPurchaseDate = originalPurchaseDate
        statement.quantity = quantity.map { Int64(clamping: $0) }
        statement.lineItemID = ExactText(lineItem: webOrderLineItemID)
        statement.ownershipType = ExactText(identifier: ownershipType?.rawValue)
        statement.offer = PurchaseOffer(
            isTrial: isTrialPeriod, isIntroductory: isInIntroOfferPeriod,
            identifier: ExactText(identifier: offerIdentifier))
        statement.productNumber = productAppleID == 0 ? nil : productAppleID
        statement.otherClaims = otherClaims
        statement.end = expiresDate
        statement.cancellation = cancellationDate
        return statement
    }

    /// Attributes without a field, by number, as hexadecimal digits. Apple writes some that are always empty.
    private var otherClaims: [UInt8]? {
        var claims: [String: JSONValue] = [:]
        for attribute in attributes where !Self.isField(attribute.type) && attribute.value.count > 2 {
            claims["\(attribute.type)"] = .string(attribute.value.hexadecimal)
        }
        return CanonicalJSON.otherClaims(claims)
    }

    /// Whether a field of the statement comes from an attribute (docs/receipt-format.md).
    private static func isField(_ type: Int64) -> Bool {
        switch type {
        case 1701...1708, 1710...1713, 1719, 1721, 1722: true
        default: false
        }
    }
}

extension PurchaseOffer {
    /// The offer of a receipt, from its flags and its identifier. Offer codes also have an identifier, so it does not
    /// determine the type, but a trial with one is no introductory offer.
    package init?(isTrial: Bool?, isIntroductory: Bool?, identifier: ExactText?) {
        let isIntroduction = isIntroductory == true || isTrial == true && identifier == nil
        self.init(
            type: isIntroduction ? 1 : nil, identifier: identifier, discountType: isTrial == true ? "FREE_TRIAL" : nil)
    }
}

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
