import EvidenceMint
import Foundation

extension PurchaseTemplate {
    /// The entry of a transaction in an app receipt.
    init(_ transaction: StoreTransaction, product: StoreProduct?) {
        self.init(
            productID: transaction.productID, transactionID: transaction.transactionID,
            purchaseDate: transaction.purchaseDate)
        quantity = transaction.quantity
        originalTransactionID = transaction.originalTransactionID
        originalPurchaseDate = transaction.originalPurchaseDate
        productType =
            switch transaction.kind {
            case .consumable: .consumable
            case .nonConsumable: .nonConsumable
            case .nonRenewing: .nonRenewingSubscription
            case .autoRenewable: .autoRenewableSubscription
            }
        productAdamID = transaction.environment == .production ? product?.productNumber ?? 0 : 0
        cancellationDate = transaction.receiptCancellationDate
        ownershipType =
            switch transaction.ownership {
            case .purchased: .purchased
            case .familyShared: .familyShared
            // Receipts have no known value for it.
            case .assigned: nil
            }
        isTrialPeriod = transaction.isTrialPeriod
        guard transaction.kind == .autoRenewable else { return }
        expiresDate = transaction.expiresDate
        webOrderLineItemID = transaction.webOrderLineItemID
        isInIntroOfferPeriod = transaction.isInIntroOfferPeriod
        promotionalOfferID = transaction.promotionalOfferID
    }
}

extension StoreTransaction {
    /// The date of the refund, of the end of sharing, or of the upgrade: `cancellation_date` is used for all three. A
    /// receipt has no field for a percentage, so a partly refunded consumable has no such date.
    var receiptCancellationDate: Date? {
        if let revocation, !(revocation.isPartial && kind == .consumable) { return revocation.date }
        return upgradeDate
    }

    /// Attribute 1721 names promotional and win-back offers, and offers that a code gave.
    var promotionalOfferID: String? {
        guard let offer, offer.kind != .introductory else { return nil }
        return offer.offerID
    }
}

extension TransactionReceiptTemplate {
    /// The transaction receipt of a transaction, as the customer's device has it.
    init(_ transaction: StoreTransaction, app: StoreApp, customer: StoreCustomer, product: StoreProduct?) {
        let isProduction = customer.environment == .production
        self.init(
            purchase: PurchaseTemplate(transaction, product: product), bundleID: app.bundleID,
            bundleVersion: app.version, environment: app.environmentNames.name(of: customer.environment),
            vendorIdentifier: UUID(uuidString: customer.deviceID))
        environment = isProduction && app.environmentNames == .apple ? nil : environment
        itemID = product?.productNumber
        appItemID = isProduction ? app.appID : nil
        versionExternalIdentifier = isProduction ? 870_000_001 : nil
        subscriptionGroupIdentifier = transaction.subscriptionGroupID
    }
}
