public import Foundation

/// The content of signed renewal information: `JWSRenewalInfoDecodedPayload` in Apple's documents. It names no app.
public struct RenewalInfoTemplate: SignedPayloadTemplate, Hashable {
    /// 1 cancelled, 2 billing error, 3 price not agreed to, 4 not for sale, 5 other
    @NamedField("expirationIntent") public var expirationIntent: Int64?
    @NamedField("originalTransactionId") public var originalTransactionID: String?
    /// The product of the next period
    @NamedField("autoRenewProductId") public var autoRenewProductID: String?
    @NamedField("productId") public var productID: String?
    /// 0 or 1
    @NamedField("autoRenewStatus") public var autoRenewStatus: Int64?
    @NamedField("isInBillingRetryPeriod") public var isInBillingRetryPeriod: Bool?
    /// 0 not answered, 1 agreed
    @NamedField("priceIncreaseStatus") public var priceIncreaseStatus: Int64?
    @NamedField("gracePeriodExpiresDate") public var gracePeriodExpiresDate: Date?
    /// 1 introductory, 2 promotional, 3 code, 4 win-back
    @NamedField("offerType") public var offerType: Int64?
    @NamedField("offerIdentifier") public var offerIdentifier: String?
    @NamedField("signedDate") public var signedDate: Date?
    /// `Sandbox`, `Production` or `Xcode`; absent in 2021
    @NamedField("environment") public var environment: String?
    @NamedField("recentSubscriptionStartDate") public var recentSubscriptionStartDate: Date?
    @NamedField("renewalDate") public var renewalDate: Date?
    /// Three letters
    @NamedField("currency") public var currency: String?
    /// In thousandths of the currency's unit
    @NamedField("renewalPrice") public var renewalPrice: Int64?
    @NamedField("offerDiscountType") public var offerDiscountType: String?
    @NamedField("eligibleWinBackOfferIds") public var eligibleWinBackOfferIDs: [String]?
    /// A UUID in small letters
    @NamedField("appAccountToken") public var appAccountToken: String?
    @NamedField("appTransactionId") public var appTransactionID: String?
    /// Such as `P1M`
    @NamedField("offerPeriod") public var offerPeriod: String?
    @NamedField("renewalBillingPlanType") public var renewalBillingPlanType: String?
    @NamedField("commitmentInfo") public var commitmentInfo: [Claim]?
    @NamedField("advancedCommerceInfo") public var advancedCommerceInfo: [Claim]?
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

extension RenewalInfoTemplate: NestedPayload {}
