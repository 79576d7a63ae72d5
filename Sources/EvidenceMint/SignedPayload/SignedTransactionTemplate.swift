public import Foundation

/// The content of a signed transaction: `JWSTransactionDecodedPayload` in Apple's documents.
public struct SignedTransactionTemplate: SignedPayloadTemplate, Hashable {
    /// `transactionId`
    public var transactionID: String?
    /// `originalTransactionId`
    public var originalTransactionID: String?
    /// `webOrderLineItemId`: only in subscriptions
    public var webOrderLineItemID: String?
    /// `bundleId`
    public var bundleID: String?
    /// `productId`
    public var productID: String?
    /// `subscriptionGroupIdentifier`: only in subscriptions
    public var subscriptionGroupIdentifier: String?
    /// `purchaseDate`
    public var purchaseDate: Date?
    /// `originalPurchaseDate`
    public var originalPurchaseDate: Date?
    /// `expiresDate`: only in subscriptions
    public var expiresDate: Date?
    /// `quantity`
    public var quantity: Int64? = 1
    /// `type`
    public var type: ProductType?
    /// `appAccountToken`: a UUID in small letters
    public var appAccountToken: String?
    /// `inAppOwnershipType`: `PURCHASED` or `FAMILY_SHARED`
    public var inAppOwnershipType: String? = "PURCHASED"
    /// `signedDate`
    public var signedDate: Date?
    /// `revocationReason`: 0 for another reason, 1 for an issue in the app
    public var revocationReason: Int64?
    /// `revocationDate`: when it was refunded or taken out of family sharing
    public var revocationDate: Date?
    /// `revocationType`, such as `REFUND_FULL`
    public var revocationType: String?
    /// `revocationPercentage`, in thousandths of a percent
    public var revocationPercentage: Int64?
    /// `isUpgraded`
    public var isUpgraded: Bool?
    /// `offerType`: 1 introductory, 2 promotional, 3 code, 4 win-back
    public var offerType: Int64?
    /// `offerIdentifier`
    public var offerIdentifier: String?
    /// `environment`: `Sandbox`, `Production` or `Xcode`; absent in 2021
    public var environment: String?
    /// `transactionReason`: `PURCHASE` or `RENEWAL`
    public var transactionReason: String?
    /// `storefront`: three letters
    public var storefront: String?
    /// `storefrontId`
    public var storefrontID: String?
    /// `price`, in thousandths of the currency's unit
    public var price: Int64?
    /// `currency`: three letters
    public var currency: String?
    /// `offerDiscountType`: `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT`, `ONE_TIME`
    public var offerDiscountType: String?
    /// `appTransactionId`
    public var appTransactionID: String?
    /// `offerPeriod`, such as `P1M`
    public var offerPeriod: String?
    /// `billingPlanType`
    public var billingPlanType: String?
    /// `commitmentInfo`
    public var commitmentInfo: [Claim]?
    /// `advancedCommerceInfo`
    public var advancedCommerceInfo: [Claim]?
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
        /// The words.
        public let rawValue: String

        /// Any words, known or not.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

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

    /// All claims, in the order of the App Store.
    public var claims: [Claim] {
        var list = ClaimList(dateStyle)
        list.add("transactionId", transactionID)
        list.add("originalTransactionId", originalTransactionID)
        list.add("webOrderLineItemId", webOrderLineItemID)
        list.add("bundleId", bundleID)
        list.add("productId", productID)
        list.add("subscriptionGroupIdentifier", subscriptionGroupIdentifier)
        list.add("purchaseDate", purchaseDate)
        list.add("originalPurchaseDate", originalPurchaseDate)
        list.add("expiresDate", expiresDate)
        list.add("quantity", quantity)
        list.add("type", type?.rawValue)
        list.add("appAccountToken", appAccountToken)
        list.add("inAppOwnershipType", inAppOwnershipType)
        list.add("signedDate", signedDate)
        list.add("revocationReason", revocationReason)
        list.add("revocationDate", revocationDate)
        list.add("revocationType", revocationType)
        list.add("revocationPercentage", revocationPercentage)
        list.add("isUpgraded", isUpgraded)
        list.add("offerType", offerType)
        list.add("offerIdentifier", offerIdentifier)
        list.add("environment", environment)
        list.add("transactionReason", transactionReason)
        list.add("storefront", storefront)
        list.add("storefrontId", storefrontID)
        list.add("price", price)
        list.add("currency", currency)
        list.add("offerDiscountType", offerDiscountType)
        list.add("appTransactionId", appTransactionID)
        list.add("offerPeriod", offerPeriod)
        list.add("billingPlanType", billingPlanType)
        list.add("commitmentInfo", object: commitmentInfo)
        list.add("advancedCommerceInfo", object: advancedCommerceInfo)
        list.add(deviceVerification)
        return list.claims + extra
    }

    /// The same; nothing is nested within.
    public func claims(signing sign: (any SignedPayloadTemplate) throws -> String) rethrows -> [Claim] {
        claims
    }
}
