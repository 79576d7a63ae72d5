import EvidenceMint
import Foundation

extension SignedTransactionTemplate {
    /// The signed transaction of a transaction, in its present state.
    /// - Parameter isForDevice: whether it goes to the customer's device, which it then names.
    init(
        _ transaction: StoreTransaction, app: StoreApp, customer: StoreCustomer, product: StoreProduct?,
        signedDate: Date, isForDevice: Bool
    ) {
        self.init(
            purchase: PurchaseTemplate(transaction, product: product), bundleID: app.bundleID,
            environment: app.environmentNames.name(of: customer.environment), signedDate: signedDate,
            deviceID: isForDevice ? UUID(uuidString: customer.deviceID) : nil)
        subscriptionGroupIdentifier = transaction.subscriptionGroupID
        appAccountToken = transaction.appAccountToken
        transactionReason = transaction.reason.rawValue
        storefront = customer.storefront
        price = transaction.price
        currency = transaction.currency
        isUpgraded = transaction.isUpgraded ? true : nil
        appTransactionID = app.appTransactionID(of: customer)
        revocationDate = transaction.revocation?.date
        revocationReason = transaction.revocation.map { Int64($0.reason) }
        revocationType = transaction.revocation?.type
        revocationPercentage = transaction.revocation?.percentage
        offerType = transaction.offer.map { Int64($0.kind.number) }
        offerDiscountType = transaction.offer?.mode.rawValue
        offerIdentifier = transaction.promotionalOfferID
        offerPeriod = transaction.offer.flatMap { offer in
            product?.subscription?.offers.first { $0.offerID == offer.offerID }?.period.description
        }
        inAppOwnershipType = transaction.ownership.rawValue
        if let reason = transaction.additionalReason {
            extra.append(Claim("additionalTransactionReason", .string(reason)))
        }
        if let seats = transaction.seats {
            extra.append(Claim("multiSeatInfo", .object(seats.claims(price: transaction.price, transaction.quantity))))
        }
    }
}

extension RenewalInfoTemplate {
    /// The renewal information of a subscription, in its present state.
    init(
        _ subscription: StoreSubscription, transaction: SignedTransactionTemplate, currency: String?, signedDate: Date,
        invitations: SeatInvitations?
    ) {
        self.init(transaction: transaction)
        self.signedDate = signedDate
        productID = subscription.productID
        autoRenewProductID = subscription.autoRenewProductID
        autoRenewStatus = subscription.autoRenews ? 1 : 0
        expirationIntent = subscription.expirationIntent.map(Int64.init)
        isInBillingRetryPeriod = subscription.status == .billingRetry || subscription.status == .gracePeriod
        gracePeriodExpiresDate = subscription.gracePeriodExpiresDate
        priceIncreaseStatus = subscription.priceIncrease.map { $0.isAccepted ? 1 : 0 }
        recentSubscriptionStartDate = subscription.recentStartDate
        renewalDate = subscription.autoRenews ? subscription.expiresDate : nil
        renewalPrice = subscription.autoRenews ? subscription.priceIncrease?.price ?? subscription.renewalPrice : nil
        self.currency = currency
        offerIdentifier = subscription.offer?.offerID
        offerType = subscription.offer == nil ? nil : transaction.offerType
        offerDiscountType = subscription.offer == nil ? nil : transaction.offerDiscountType
        guard let seats = subscription.renewalSeats, let invitations else { return }
        extra.append(Claim("renewalQuantity", .integer(Int64(clamping: seats))))
        extra.append(
            Claim(
                "multiSeatInfo",
                .object([
                    Claim("invitationManagement", .string(invitations.rawValue)),
                    Claim("renewalPriceTiers", .array([StoreTransaction.Seats.tier(subscription.renewalPrice, seats)])),
                ])))
    }
}

extension StoreTransaction.Seats {
    /// `multiSeatInfo` of a transaction.
    fileprivate func claims(price: Int64, _ quantity: UInt64) -> [Claim] {
        var claims = [
            Claim("invitationManagement", .string(invitations.rawValue)),
            Claim("priceTiers", .array([Self.tier(price, quantity)])),
        ]
        if revoked > 0 { claims.append(Claim("revokedSeatQuantity", .integer(Int64(clamping: revoked)))) }
        return claims
    }

    /// A number of seats at one price.
    fileprivate static func tier(_ price: Int64, _ quantity: UInt64) -> ClaimValue {
        .object([Claim("price", .integer(price)), Claim("quantity", .integer(Int64(clamping: quantity)))])
    }
}

extension AppTransactionTemplate {
    /// The app transaction of an app on a customer's device.
    /// - Parameter isForDevice: whether it goes to the customer's device, which it then names.
    init(
        _ receipt: StoreReceipt, app: StoreApp, customer: StoreCustomer, signedDate: Date, isForDevice: Bool = true
    ) {
        let isProduction = customer.environment == .production
        self.init(
            bundleID: app.bundleID, creationDate: signedDate,
            environment: app.environmentNames.name(of: customer.environment),
            applicationVersion: receipt.applicationVersion,
            deviceID: isForDevice ? UUID(uuidString: customer.deviceID) : nil)
        appAppleID = isProduction ? Int64(clamping: app.appID) : 0
        versionExternalIdentifier = isProduction ? 870_000_001 : 0
        if isProduction { originalPurchaseDate = receipt.originalPurchaseDate }
        originalApplicationVersion = isProduction ? receipt.applicationVersion : "1.0"
        appTransactionID = app.appTransactionID(of: customer)
    }
}

extension StoreTransaction.Revocation {
    /// The kind in Apple's words (`revocationType`).
    fileprivate var type: String? {
        switch kind {
        case .refund: isPartial ? "REFUND_PRORATED" : "REFUND_FULL"
        case .familySharing: "FAMILY_REVOKE"
        // Apple's pages do not name the value.
        case .assignment: nil
        }
    }
}
