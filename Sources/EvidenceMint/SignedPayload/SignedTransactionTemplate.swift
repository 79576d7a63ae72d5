public import Foundation

/// The content of a signed transaction: `JWSTransactionDecodedPayload` in Apple's documents.
public struct SignedTransactionTemplate: SignedPayloadTemplate, Hashable {
    @NamedField("transactionId") public var transactionID: String?
    @NamedField("originalTransactionId") public var originalTransactionID: String?
    /// Only in subscriptions
    @NamedField("webOrderLineItemId") public var webOrderLineItemID: String?
    @NamedField("bundleId") public var bundleID: String?
    @NamedField("productId") public var productID: String?
    /// Only in subscriptions
    @NamedField("subscriptionGroupIdentifier") public var subscriptionGroupIdentifier: String?
    @NamedField("purchaseDate") public var purchaseDate: Date?
    @NamedField("originalPurchaseDate") public var originalPurchaseDate: Date?
    /// Only in subscriptions
    @NamedField("expiresDate") public var expiresDate: Date?
    @NamedField("quantity") public var quantity: Int64? = 1
    @NamedField("type") public var type: ProductType?
    /// A UUID in small letters
    @NamedField("appAccountToken") public var appAccountToken: String?
    /// `PURCHASED` or `FAMILY_SHARED`
    @NamedField("inAppOwnershipType") public var inAppOwnershipType: String? = "PURCHASED"
    @NamedField("signedDate") public var signedDate: Date?
    /// 0 for another reason, 1 for an issue in the app
    @NamedField("revocationReason") public var revocationReason: Int64?
    /// When it was refunded or taken out of family sharing
    @NamedField("revocationDate") public var revocationDate: Date?
    /// Such as `REFUND_FULL`
    @NamedField("revocationType") public var revocationType: String?
    /// In thousandths of a percent
    @NamedField("revocationPercentage") public var revocationPercentage: Int64?
    @NamedField("isUpgraded") public var isUpgraded: Bool?
    /// 1 introductory, 2 promotional, 3 code, 4 win-back
    @NamedField("offerType") public var offerType: Int64?
    @NamedField("offerIdentifier") public var offerIdentifier: String?
    /// `Sandbox`, `Production` or `Xcode`; absent in 2021
    @NamedField("environment") public var environment: String?
    /// `PURCHASE` or `RENEWAL`
    @NamedField("transactionReason") public var transactionReason: String?
    /// Three letters
    @NamedField("storefront") public var storefront: String?
    @NamedField("storefrontId") public var storefrontID: String?
    /// In thousandths of the currency's unit
    @NamedField("price") public var price: Int64?
    /// Three letters
    @NamedField("currency") public var currency: String?
    /// `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT`, `ONE_TIME`
    @NamedField("offerDiscountType") public var offerDiscountType: String?
    @NamedField("appTransactionId") public var appTransactionID: String?
    /// Such as `P1M`
    @NamedField("offerPeriod") public var offerPeriod: String?
    @NamedField("billingPlanType") public var billingPlanType: String?
    @NamedField("commitmentInfo") public var commitmentInfo: [Claim]?
    @NamedField("advancedCommerceInfo") public var advancedCommerceInfo: [Claim]?
    /// `deviceVerification` and `deviceVerificationNonce`: on a device
    public var deviceVerification: DeviceVerification?
    /// Further claims, last, in this order.
    public var extra: [Claim] = []
    /// The format of dates.
    public var dateStyle = ClaimDateStyle.wholeMilliseconds

    /// A transaction with a quantity of 1, purchased, and nothing else.
    public init() {}

    /// The kind of a product, in the words of `type`.
    public struct ProductType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// Renewed by the store until it is cancelled.
        public static let autoRenewableSubscription = ProductType(rawValue: "Auto-Renewable Subscription")
        /// Bought once and kept.
        public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
        /// Used up.
        public static let consumable = ProductType(rawValue: "Consumable")
        /// Ends, and is not renewed by the store.
        public static let nonRenewingSubscription = ProductType(rawValue: "Non-Renewing Subscription")
    }

    /// `signedDate`
    public var signingDate: Date? { signedDate }
}

extension SignedTransactionTemplate: NestedPayload {}

extension SignedTransactionTemplate.ProductType: ClaimContent {
    func value(_: ClaimDateStyle, _: NestedSigner) -> ClaimValue { .string(rawValue) }
}

extension SignedTransactionTemplate {
    /// The signed transaction of one purchase, with the claims that the App Store writes today.
    ///
    /// The same parameters always make the same content; Apple's random values are derived from them.
    /// - Parameters:
    ///   - environment: `Sandbox`, `Production`, or a name of your own.
    ///   - signedDate: when it is signed; the date of the purchase, if not given.
    ///   - deviceID: the device that it is made for; nil means that a server made it, for no device.
    public init(
        purchase: PurchaseTemplate, bundleID: String, environment: String = "Sandbox", signedDate: Date? = nil,
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
