public import Foundation

extension SignedTransactionTemplate {
    /// The signed transaction of one purchase, with the claims that the App Store writes today.
    ///
    /// The same parameters always make the same content; Apple's random values are derived from them.
    /// - Parameters:
    ///   - environment: `Sandbox`, `Production`, or a name of your own.
    ///   - signedDate: when it is signed; the date of the purchase, if not given.
    ///   - deviceID: the device that it is made for; nil means that a server made it, for no device.
    public init(
        purchase: PurchaseTemplate,
        bundleID: String,
        environment: String = "Sandbox",
        signedDate: Date? = nil,
        deviceID: UUID? = nil
    ) {
        transactionID = purchase.transactionID
        originalTransactionID = purchase.originalTransactionID
        self.bundleID = bundleID
        productID = purchase.productID
        purchaseDate = purchase.purchaseDate
        originalPurchaseDate = purchase.originalPurchaseDate
        quantity = purchase.quantity.map { Int64(clamping: $0) }
        type = purchase.productType.flatMap(ProductType.init)
        inAppOwnershipType = purchase.ownershipType.map { $0 == .familyShared ? "FAMILY_SHARED" : "PURCHASED" }
        self.signedDate = signedDate ?? purchase.purchaseDate
        if let cancelled = purchase.cancellationDate {
            revocationReason = 0
            revocationDate = cancelled
        }
        if purchase.expiresDate != nil {
            expiresDate = purchase.expiresDate
            webOrderLineItemID = purchase.webOrderLineItemID.map(String.init)
            subscriptionGroupIdentifier = "20749162"
        }
        if purchase.isTrialPeriod == true || purchase.isInIntroOfferPeriod == true {
            offerType = 1
            offerDiscountType = purchase.isTrialPeriod == true ? "FREE_TRIAL" : "PAY_AS_YOU_GO"
        } else if let offer = purchase.promotionalOfferID {
            offerType = 2
            offerIdentifier = offer
        }
        self.environment = environment
        let isRenewal = purchase.expiresDate != nil && transactionID != originalTransactionID
        transactionReason = isRenewal ? "RENEWAL" : "PURCHASE"
        storefront = "USA"
        storefrontID = "143441"
        price = 990
        currency = "USD"
        appTransactionID = "700000000000000001"
        deviceVerification = deviceID.map {
            DeviceVerification(deviceID: $0, seed: "\(bundleID)|\(purchase.transactionID ?? "")")
        }
    }

    /// The transaction as StoreKit testing in Xcode writes it: its environment, and dates that are finer than
    /// milliseconds. Sign it with an `XcodeSigner`.
    public var asXcodeWritesIt: SignedTransactionTemplate {
        var template = self
        template.environment = "Xcode"
        template.dateStyle = .fractionalMilliseconds
        template.price = nil
        template.currency = nil
        template.appTransactionID = nil
        template.isUpgraded = false
        for date in [
            \Self.purchaseDate, \Self.originalPurchaseDate, \Self.expiresDate, \Self.signedDate, \Self.revocationDate,
        ] {
            template[keyPath: date] = template[keyPath: date]?.finerThanMilliseconds
        }
        return template
    }
}

extension SignedTransactionTemplate.ProductType {
    /// The name of a product type of an app receipt; nil for a type that no transaction has.
    init?(_ type: PurchaseTemplate.ProductType) {
        switch type {
        case .nonConsumable: self = .nonConsumable
        case .consumable: self = .consumable
        case .nonRenewingSubscription: self = .nonRenewingSubscription
        case .autoRenewableSubscription: self = .autoRenewableSubscription
        default: return nil
        }
    }
}
