public import Foundation

/// The content of signed renewal information: `JWSRenewalInfoDecodedPayload` in Apple's documents. It names no app.
public struct RenewalInfoTemplate: SignedPayloadTemplate, Hashable {
    /// `expirationIntent`: 1 cancelled, 2 billing error, 3 price not agreed to, 4 not for sale, 5 other
    public var expirationIntent: Int64?
    /// `originalTransactionId`
    public var originalTransactionID: String?
    /// `autoRenewProductId`: the product of the next period
    public var autoRenewProductID: String?
    /// `productId`
    public var productID: String?
    /// `autoRenewStatus`: 0 or 1
    public var autoRenewStatus: Int64?
    /// `isInBillingRetryPeriod`
    public var isInBillingRetryPeriod: Bool?
    /// `priceIncreaseStatus`: 0 not answered, 1 agreed
    public var priceIncreaseStatus: Int64?
    /// `gracePeriodExpiresDate`
    public var gracePeriodExpiresDate: Date?
    /// `offerType`: 1 introductory, 2 promotional, 3 code, 4 win-back
    public var offerType: Int64?
    /// `offerIdentifier`
    public var offerIdentifier: String?
    /// `signedDate`
    public var signedDate: Date?
    /// `environment`: `Sandbox`, `Production` or `Xcode`; absent in 2021
    public var environment: String?
    /// `recentSubscriptionStartDate`
    public var recentSubscriptionStartDate: Date?
    /// `renewalDate`
    public var renewalDate: Date?
    /// `currency`: three letters
    public var currency: String?
    /// `renewalPrice`, in thousandths of the currency's unit
    public var renewalPrice: Int64?
    /// `offerDiscountType`
    public var offerDiscountType: String?
    /// `eligibleWinBackOfferIds`
    public var eligibleWinBackOfferIDs: [String]?
    /// `appAccountToken`: a UUID in small letters
    public var appAccountToken: String?
    /// `appTransactionId`
    public var appTransactionID: String?
    /// `offerPeriod`, such as `P1M`
    public var offerPeriod: String?
    /// `renewalBillingPlanType`
    public var renewalBillingPlanType: String?
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

    /// Renewal information with nothing in it.
    public init() {}

    /// `signedDate`
    public var signingDate: Date? { signedDate }

    /// All claims, in the order of the App Store.
    public var claims: [Claim] {
        var list = ClaimList(dateStyle)
        list.add("expirationIntent", expirationIntent)
        list.add("originalTransactionId", originalTransactionID)
        list.add("autoRenewProductId", autoRenewProductID)
        list.add("productId", productID)
        list.add("autoRenewStatus", autoRenewStatus)
        list.add("isInBillingRetryPeriod", isInBillingRetryPeriod)
        list.add("priceIncreaseStatus", priceIncreaseStatus)
        list.add("gracePeriodExpiresDate", gracePeriodExpiresDate)
        list.add("offerType", offerType)
        list.add("offerIdentifier", offerIdentifier)
        list.add("signedDate", signedDate)
        list.add("environment", environment)
        list.add("recentSubscriptionStartDate", recentSubscriptionStartDate)
        list.add("renewalDate", renewalDate)
        list.add("currency", currency)
        list.add("renewalPrice", renewalPrice)
        list.add("offerDiscountType", offerDiscountType)
        list.add("eligibleWinBackOfferIds", eligibleWinBackOfferIDs)
        list.add("appAccountToken", appAccountToken)
        list.add("appTransactionId", appTransactionID)
        list.add("offerPeriod", offerPeriod)
        list.add("renewalBillingPlanType", renewalBillingPlanType)
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

extension RenewalInfoTemplate {
    /// The renewal information that belongs to a transaction of a subscription that is renewed when it expires.
    public init(transaction: SignedTransactionTemplate) {
        originalTransactionID = transaction.originalTransactionID
        autoRenewProductID = transaction.productID
        productID = transaction.productID
        autoRenewStatus = 1
        isInBillingRetryPeriod = false
        signedDate = transaction.signedDate
        environment = transaction.environment
        recentSubscriptionStartDate = transaction.originalPurchaseDate
        renewalDate = transaction.expiresDate
        currency = transaction.currency
        renewalPrice = transaction.price
        appAccountToken = transaction.appAccountToken
        appTransactionID = transaction.appTransactionID
        deviceVerification = transaction.deviceVerification
    }

    /// The renewal information as StoreKit testing in Xcode writes it. Sign it with an `XcodeSigner`.
    public var asXcodeWritesIt: RenewalInfoTemplate {
        var template = self
        template.environment = "Xcode"
        template.dateStyle = .fractionalMilliseconds
        template.currency = nil
        template.renewalPrice = nil
        template.appTransactionID = nil
        for date in [
            \Self.gracePeriodExpiresDate, \Self.signedDate, \Self.recentSubscriptionStartDate, \Self.renewalDate,
        ] {
            template[keyPath: date] = template[keyPath: date]?.finerThanMilliseconds
        }
        return template
    }
}
