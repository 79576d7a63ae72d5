package import PurchaseAPI
package import PurchaseLedger
import PurchaseVerification

extension VerifyReceiptResponse.InAppPurchase {
    /// Adds what the ledger knows about the transaction. The newest signed transaction is trusted first, then the
    /// receipt; flags that the receipt states are kept, because the App Store computed them.
    package mutating func add(_ entry: ReceiptStanding.Entry) {
        let facts = entry.facts
        let isSubscription = facts.kind == .autoRenewable
        // A receipt alone says nothing that it does not say here.
        guard facts.newestStamp != nil || purchaseDate == nil else { return addWithdrawal(entry) }
        if let productID = facts.productID { self.productID = productID.string }
        quantity = UInt64(clamping: facts.quantity)
        originalTransactionID = facts.original.transactionID.string
        purchaseDate = facts.purchaseDate.map(AppleDate.init(ofReceipt:)) ?? purchaseDate
        originalPurchaseDate = facts.originalPurchaseDate.map(AppleDate.init(ofReceipt:)) ?? originalPurchaseDate
        expiresDate = facts.end.map(AppleDate.init(ofReceipt:)) ?? expiresDate
        if isSubscription, let number = facts.lineItemID.flatMap({ UInt64($0.string) }) { webOrderLineItemID = number }
        let flags = OfferFlags(
            isIntroductory: facts.offer?.isIntroductory ?? false, isFree: facts.offer?.isFreeTrial ?? false,
            purchaseDate: facts.purchaseDate?.millisecondsSince1970 ?? 0)
        isTrialPeriod = isTrialPeriod ?? flags.isTrialPeriod
        if isSubscription { isInIntroOfferPeriod = isInIntroOfferPeriod ?? flags.isInIntroOfferPeriod }
        if let ownership = facts.ownershipType { inAppOwnershipType = ownership.string }
        // With an offer code, a receipt has a UUID of its offer, which no signed transaction states.
        promotionalOfferID = promotionalOfferID ?? facts.offer?.receiptOfferID?.string
        offerCodeRefName = facts.offer?.offerCodeName?.string
        appAccountToken = facts.accountToken?.description
        if isSubscription { subscriptionGroupIdentifier = facts.subscriptionGroupID?.string }
        addWithdrawal(entry)
    }

    /// The revocation of the purchase, over all of its copies, or the upgrade that ended the period. A refund of some
    /// units of a consumable leaves the others.
    private mutating func addWithdrawal(_ entry: ReceiptStanding.Entry) {
        isUpgraded = entry.isUpgraded
        guard let withdrawal = entry.withdrawal else {
            // The newest signed data says that it is not withdrawn (any more).
            if entry.facts.newestStamp != nil { (cancellationDate, cancellationReason) = (nil, nil) }
            cancellationDate = cancellationDate ?? entry.replacedAt.map(AppleDate.init(ofReceipt:))
            return
        }
        guard entry.facts.kind != .consumable || withdrawal.units >= entry.facts.quantity else { return }
        cancellationDate = AppleDate(ofReceipt: withdrawal.date)
        // Of a cancellation, only the receipt has a reason.
        if withdrawal.cause == .revoked { cancellationReason = withdrawal.appStoreReason.map { Int($0) } }
    }
}

extension VerifyReceiptResponse.PendingRenewalInfo {
    /// The expected renewal of a subscription, from the signed renewal info about its latest period.
    ///
    /// - Returns: `nil` without renewal info about that period.
    package init?(_ subscription: ReceiptStanding.Subscription) {
        guard let standing = subscription.standing, let info = standing.renewal?.info,
            let productID = standing.purchase.productID ?? info.productID
        else { return nil }
        self.init(
            productID: productID.string, originalTransactionID: subscription.originalID.string,
            autoRenewProductID: (info.nextProductID ?? productID).string, autoRenews: info.autoRenewStatus == 1)
        (expirationIntent, isInBillingRetryPeriod) = standing.shownEnd
        gracePeriodExpiresDate = info.graceEnd.map(AppleDate.init(ofReceipt:))
        // 1 also means that no consent was needed, so it does not say that the customer was asked.
        isPriceConsentGiven = info.priceIncreaseStatus == 0 ? false : nil
        isPriceIncreaseAccepted =
            switch info.priceIncreaseStatus {
            case 0: false
            case 1: true
            default: nil
            }
        promotionalOfferID = info.offer?.promotionalOfferID?.string
        offerCodeRefName = info.offer?.offerCodeName?.string
    }
}

extension SubscriptionStanding {
    /// `expiration_intent` and `is_in_billing_retry_period`. Apple writes the second exactly with the first, and
    /// neither of an active subscription.
    fileprivate var shownEnd: (intent: Int?, isInBillingRetry: Bool?) {
        guard state.name != .active, let info = renewal?.info, let intent = info.expirationIntent else {
            return (nil, nil)
        }
        return (Int(clamping: intent), info.isInBillingRetry ?? false)
    }
}

extension FlatRenewalInfo {
    /// The expected renewal of a transaction receipt's subscription.
    ///
    /// - Parameter isExpired: whether the answer is 21006; only that has the intent.
    init?(_ subscription: ReceiptStanding.Subscription, isExpired: Bool) {
        guard let standing = subscription.standing, let info = standing.renewal?.info,
            let productID = info.nextProductID ?? standing.purchase.productID
        else { return nil }
        self.init(autoRenewProductID: productID.string, autoRenews: info.autoRenewStatus == 1)
        guard isExpired else { return }
        (expirationIntent, isInBillingRetryPeriod) = standing.shownEnd
    }
}

extension FlatReceipt {
    /// The flat receipt of another transaction of the same original, or of this one with newer facts.
    func with(_ entry: ReceiptStanding.Entry) -> FlatReceipt {
        let facts = entry.facts
        var flat = self
        let isAnother = facts.key.transactionID.string != flat["transaction_id"]
        if isAnother {
            flat["transaction_id"] = facts.key.transactionID.string
            // What is not known of this transaction must not stay from the other one.
            flat["web_order_line_item_id"] = facts.lineItemID?.string
            if flat["in_app_ownership_type"] != nil { flat["in_app_ownership_type"] = facts.ownershipType?.string }
            if flat["subscription_group_identifier"] != nil {
                flat["subscription_group_identifier"] = facts.subscriptionGroupID?.string
            }
            if flat["promotional_offer_id"] != nil {
                flat["promotional_offer_id"] = facts.offer?.receiptOfferID?.string
            }
            if flat["offer_code_ref_name"] != nil { flat["offer_code_ref_name"] = facts.offer?.offerCodeName?.string }
            if let productID = facts.productID?.string, productID != flat["product_id"] {
                flat["product_id"] = productID
                flat["item_id"] = facts.productNumber.map { "\($0)" }
            }
            flat["quantity"] = "\(facts.quantity)"
            if let date = facts.purchaseDate.map(AppleDate.init(ofReceipt:)) {
                flat["purchase_date"] = date.greenwich
                flat["purchase_date_ms"] = "\(date.millisecondsSince1970)"
                flat["purchase_date_pst"] = date.losAngeles
            }
            let flags = OfferFlags(
                isIntroductory: facts.offer?.isIntroductory ?? false, isFree: facts.offer?.isFreeTrial ?? false,
                purchaseDate: facts.purchaseDate?.millisecondsSince1970 ?? 0)
            if flat["is_trial_period"] != nil { flat["is_trial_period"] = "\(flags.isTrialPeriod)" }
            if flat["is_in_intro_offer_period"] != nil {
                flat["is_in_intro_offer_period"] = "\(flags.isInIntroOfferPeriod)"
            }
        }
        // The receipt's own milliseconds stay, unless the period was extended.
        let isSameEnd =
            flat["expires_date"].flatMap { Int64($0) }.map { $0 / 1000 }
            == facts.end.map { $0.millisecondsSince1970 / 1000 }
        if let end = facts.end, !isSameEnd {
            let date = AppleDate(ofReceipt: end)
            flat["expires_date"] = "\(date.millisecondsSince1970)"
            flat["expires_date_formatted"] = date.greenwich
            flat["expires_date_formatted_pst"] = date.losAngeles
        }
        return flat.withCancellation(of: entry, isAnother: isAnother)
    }

    /// The same with the withdrawal of the purchase, over all of its copies; of a consumable only if all units are
    /// withdrawn. The cancellation of another transaction, or one that newer signed data took back, is removed.
    func withCancellation(of entry: ReceiptStanding.Entry, isAnother: Bool = false) -> FlatReceipt {
        var flat = self
        if isAnother || entry.facts.newestStamp != nil {
            flat["cancellation_date"] = nil
            flat["cancellation_date_ms"] = nil
            flat["cancellation_date_pst"] = nil
            flat["cancellation_reason"] = nil
        }
        guard let withdrawal = entry.withdrawal,
            entry.facts.kind != .consumable || withdrawal.units >= entry.facts.quantity
        else { return flat }
        let date = AppleDate(ofReceipt: withdrawal.date)
        flat["cancellation_date"] = date.greenwich
        flat["cancellation_date_ms"] = "\(date.millisecondsSince1970)"
        flat["cancellation_date_pst"] = date.losAngeles
        flat["cancellation_reason"] = withdrawal.appStoreReason.map { "\($0)" }
        return flat
    }
}
