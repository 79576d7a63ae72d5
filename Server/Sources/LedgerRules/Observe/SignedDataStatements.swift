import PurchaseVerification

extension SignedContent where Claims == TransactionClaims, Trust == VerifiedContent {
    /// The statement of a signed transaction.
    ///
    /// A withdrawal, and the purchase of what does not renew, cannot be later than the signature that states them: such
    /// a date counts as the stamp. The App Store signs periods up to a day before they begin, so their dates are taken
    /// as they are.
    var statement: TransactionStatement? {
        guard let transactionID = ExactText(identifier: self.transactionID),
            let key = TransactionKey(
                environment: environment, transactionID: transactionID, purchaseDate: self.purchaseDate)
        else { return nil }
        let dates = [self.purchaseDate, self.originalPurchaseDate, self.revocationDate].compactMap(\.self)
        let stamp = self.signedDate ?? dates.max() ?? .epoch
        var statement = TransactionStatement(key: key, source: .signedData, stamp: stamp)
        statement.bundleID = ExactText(identifier: self.bundleID)
        statement.originalTransactionID = ExactText(identifier: self.originalTransactionID)
        statement.productID = ExactText(identifier: self.productID)
        statement.kind = self.productType.flatMap(ProductKind.init(stated:))
        statement.subscriptionGroupID = ExactText(identifier: self.subscriptionGroupIdentifier)
        statement.end = self.expiresDate
        let renews = statement.kind.map { $0 == .autoRenewable } ?? (statement.end != nil)
        statement.purchaseDate = renews ? self.purchaseDate : self.purchaseDate.map { min($0, stamp) }
        // In Xcode, the second of this date is part of the key of the original.
        statement.originalPurchaseDate =
            renews || environment == .xcode
            ? self.originalPurchaseDate : self.originalPurchaseDate.map { min($0, stamp) }
        statement.quantity = self.quantity.map { Int64(clamping: $0) }
        statement.lineItemID = ExactText(lineItem: self.webOrderLineItemID)
        statement.ownershipType = ExactText(identifier: self.ownershipType?.rawValue)
        statement.price = PurchasePrice(milliunits: self.price, currency: ExactText(identifier: self.currency))
        statement.storefront = Storefront(
            country: ExactText(identifier: self.storefront), number: ExactText(identifier: self.storefrontID))
        statement.offer = PurchaseOffer(
            type: self.offerType?.rawValue, identifier: ExactText(identifier: self.offerIdentifier),
            discountType: ExactText(identifier: self.offerDiscountType?.rawValue),
            period: ExactText(identifier: self.offerPeriod))
        statement.reason = ExactText(identifier: self.transactionReason?.rawValue)
        statement.appTransactionID = ExactText(identifier: self.appTransactionID)
        statement.revocation = revocation(stamp: stamp)
        statement.isUpgraded = self.isUpgraded == true
        statement.accountToken = self.appAccountToken.map { AppAccountToken($0) }
        statement.seats = seats
        // The quantity of seats changes with them, so it is merged with them.
        if statement.seats != nil { statement.quantity = nil }
        statement.otherClaims = otherTransactionClaims(statement)
        return statement
    }

    /// The seats of a multiseat purchase; `nil` for any other.
    private var seats: SeatFacts? {
        guard self.multiSeatInfo != nil || self.additionalTransactionReason != nil else { return nil }
        var seats = SeatFacts(quantity: self.quantity.map { Int64(clamping: $0) } ?? 1)
        if let revoked = self.multiSeatInfo?.revokedSeatQuantity { seats.revoked = revoked }
        if let management = self.multiSeatInfo?.invitationManagement {
            seats.invitationManagement = ExactText(identifier: management.rawValue)
        }
        seats.additionReason = ExactText(identifier: self.additionalTransactionReason?.rawValue)
        return seats
    }

    /// A revocation without a date, or with a later one, counts from the time of its signature.
    private func revocation(stamp: Timestamp) -> Revocation? {
        let isStated =
            self.revocationDate != nil || self.revocationReason != nil || self.revocationType != nil
            || self.revocationPercentage != nil
        guard isStated else { return nil }
        return Revocation(
            date: min(self.revocationDate ?? stamp, stamp), reason: self.revocationReason?.rawValue,
            type: ExactText(identifier: self.revocationType?.rawValue), percentage: self.revocationPercentage)
    }

    /// Claims without a field in the facts. Claims that identify a device are excluded: they are not facts of the
    /// purchase.
    private func otherTransactionClaims(_ statement: TransactionStatement) -> [UInt8]? {
        var claims = self.otherClaims
        claims["advancedCommerceInfo"] = self.advancedCommerceInfo
        claims["commitmentInfo"] = self.commitmentInfo
        claims["billingPlanType"] = self.billingPlanType.map(JSONValue.string)
        claims["multiSeatInfo"] = self.multiSeatInfo.map { .object($0.members) }
        claims["previousOriginalTransactionId"] = self.previousOriginalTransactionID.map(JSONValue.string)
        // A value that the field in the facts cannot hold.
        if statement.kind == nil { claims["type"] = self.productType.map { .string($0.rawValue) } }
        return CanonicalJSON.otherClaims(claims)
    }
}

extension SignedContent where Claims == RenewalInfoClaims, Trust == VerifiedContent {
    /// The statement of signed renewal info.
    var statement: RenewalStatement? {
        guard let original = ExactText(identifier: self.originalTransactionID) else { return nil }
        var info = RenewalInfo()
        info.productID = ExactText(identifier: self.productID)
        info.nextProductID = ExactText(identifier: self.autoRenewProductID)
        info.autoRenewStatus = self.autoRenewStatus?.rawValue
        info.expirationIntent = self.expirationIntent?.rawValue
        info.isInBillingRetry = self.isInBillingRetryPeriod
        info.priceIncreaseStatus = self.priceIncreaseStatus?.rawValue
        info.graceEnd = self.gracePeriodExpiresDate
        info.renewalDate = self.renewalDate
        info.renewalPrice = PurchasePrice(
            milliunits: self.renewalPrice, currency: ExactText(identifier: self.currency))
        info.recentStart = self.recentSubscriptionStartDate
        info.offer = PurchaseOffer(
            type: self.offerType?.rawValue, identifier: ExactText(identifier: self.offerIdentifier),
            discountType: ExactText(identifier: self.offerDiscountType?.rawValue),
            period: ExactText(identifier: self.offerPeriod))
        info.accountToken = self.appAccountToken.map { AppAccountToken($0) }
        info.appTransactionID = ExactText(identifier: self.appTransactionID)
        info.otherClaims = otherRenewalClaims
        return RenewalStatement(
            key: RenewalKey(environment: environment, originalTransactionID: original),
            stamp: self.signedDate ?? .epoch, info: info)
    }

    private var otherRenewalClaims: [UInt8]? {
        var claims = self.otherClaims
        claims["advancedCommerceInfo"] = self.advancedCommerceInfo
        claims["commitmentInfo"] = self.commitmentInfo
        claims["renewalBillingPlanType"] = self.renewalBillingPlanType.map(JSONValue.string)
        claims["eligibleWinBackOfferIds"] = self.eligibleWinBackOfferIDs.map { .array($0.map(JSONValue.string)) }
        return CanonicalJSON.otherClaims(claims)
    }
}

extension ProductKind {
    /// The kind that evidence states; `nil` if it is unknown.
    init?(stated type: ProductType) {
        switch type {
        case .nonConsumable: self = .nonConsumable
        case .consumable: self = .consumable
        case .nonRenewingSubscription: self = .nonRenewing
        case .autoRenewableSubscription, .freeSubscription: self = .autoRenewable
        default: return nil
        }
    }
}
