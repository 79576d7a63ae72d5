import EvidenceMint
import Foundation
import PurchaseAPI

extension AppleDate {
    init(_ date: Date) {
        self.init(millisecondsSince1970: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}

extension VerifyReceiptResponse.Receipt {
    /// The receipt as it was signed.
    init(_ record: IssuedEvidence, template: AppReceiptTemplate, requestDate: AppleDate) {
        self.init()
        receiptType = template.receiptType
        adamID = template.adamID
        bundleID = template.bundleID
        applicationVersion = template.applicationVersion
        downloadID = template.downloadID
        versionExternalIdentifier = template.versionExternalIdentifier
        receiptCreationDate = template.creationDate.map { AppleDate($0) }
        self.requestDate = requestDate
        originalPurchaseDate = template.originalPurchaseDate.map { AppleDate($0) }
        originalApplicationVersion = template.originalApplicationVersion
        expirationDate = template.expirationDate.map { AppleDate($0) }
        inApp = record.transactions.map { VerifyReceiptResponse.InAppPurchase($0, isLatest: false) }
    }
}

extension VerifyReceiptResponse.InAppPurchase {
    /// A transaction in Apple's words.
    /// - Parameter isLatest: whether the entry has the present state of the store, which has more fields than a
    ///   receipt.
    init(_ transaction: StoreTransaction, isLatest: Bool) {
        self.init(productID: transaction.productID, transactionID: transaction.transactionID)
        quantity = transaction.quantity
        originalTransactionID = transaction.originalTransactionID
        purchaseDate = AppleDate(transaction.purchaseDate)
        originalPurchaseDate = AppleDate(transaction.originalPurchaseDate)
        cancellationDate = transaction.receiptCancellationDate.map { AppleDate($0) }
        isTrialPeriod = transaction.isTrialPeriod
        inAppOwnershipType = transaction.ownership.rawValue
        promotionalOfferID = transaction.promotionalOfferID
        if transaction.kind == .autoRenewable {
            expiresDate = transaction.expiresDate.map { AppleDate($0) }
            webOrderLineItemID = transaction.webOrderLineItemID
            isInIntroOfferPeriod = transaction.isInIntroOfferPeriod
        }
        guard isLatest else { return }
        cancellationReason = cancellationDate.map { _ in transaction.revocation?.reason ?? 0 }
        isUpgraded = transaction.isUpgraded
        subscriptionGroupIdentifier = transaction.subscriptionGroupID
        appAccountToken = transaction.appAccountToken
        if transaction.offer?.kind == .offerCode { offerCodeRefName = transaction.offer?.offerID }
    }
}

extension VerifyReceiptResponse.PendingRenewalInfo {
    /// The expected renewal of a subscription.
    init(_ subscription: StoreSubscription, offer: StoreTransaction.Offer?) {
        self.init(
            productID: subscription.productID, originalTransactionID: subscription.originalTransactionID,
            autoRenewProductID: subscription.autoRenewProductID, autoRenews: subscription.autoRenews)
        expirationIntent = subscription.expirationIntent
        if subscription.expirationIntent != nil {
            isInBillingRetryPeriod = subscription.status == .billingRetry || subscription.status == .gracePeriod
        }
        gracePeriodExpiresDate = subscription.gracePeriodExpiresDate.map { AppleDate($0) }
        // Only while the customer has to agree.
        if subscription.isUsable, subscription.priceIncrease?.isAccepted == false { isPriceConsentGiven = false }
        isPriceIncreaseAccepted = subscription.priceIncrease?.isAccepted
        guard subscription.offer != nil, let offer else { return }
        if offer.kind == .offerCode { offerCodeRefName = offer.offerID }
        if offer.kind == .promotional { promotionalOfferID = offer.offerID }
    }
}

extension FlatReceipt {
    /// The content of a transaction receipt.
    init(_ template: TransactionReceiptTemplate) {
        self.init(attributes: template.entries().map { (key: $0.key, value: $0.value) })
    }
}
