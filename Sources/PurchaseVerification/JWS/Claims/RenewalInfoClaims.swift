#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The claims of signed renewal info (Apple, "JWSRenewalInfoDecodedPayload").
public final class RenewalInfoClaims: SignedClaims {
    /// The reason why the subscription ended.
    public let expirationIntent: ExpirationIntent?
    /// The first transaction of the subscription.
    public let originalTransactionID: String?
    /// The product of the next period.
    public let autoRenewProductID: String?
    /// The product of this period.
    public let productID: String?
    /// Whether the subscription renews automatically.
    public let autoRenewStatus: AutoRenewStatus?
    /// Whether Apple still tries to collect the price.
    public let isInBillingRetryPeriod: Bool?
    /// Whether the customer agreed to a higher price.
    public let priceIncreaseStatus: PriceIncreaseStatus?
    /// When the grace period ends.
    public let gracePeriodExpiresDate: AppStoreTime?
    /// The kind of offer that applies to the next period.
    public let offerType: AppStoreOfferType?
    /// The offer that applies to the next period.
    public let offerIdentifier: String?
    /// The way of payment of the offer.
    public let offerDiscountType: OfferDiscountType?
    /// The length of the offer (ISO 8601 duration).
    public let offerPeriod: String?
    /// The signing date, at which the validity of its certificates is checked.
    public let signedDate: AppStoreTime?
    /// The stated environment; absent in data of 2021.
    public let statedEnvironment: String?
    /// When the subscription last began without a gap.
    public let recentSubscriptionStartDate: AppStoreTime?
    /// When the next period begins.
    public let renewalDate: AppStoreTime?
    /// The price of the next period in thousandths of the currency.
    public let renewalPrice: Int64?
    /// The number of seats of the next period. It can change until the renewal.
    public let renewalQuantity: Int64?
    /// The seats of the subscription.
    public let multiSeatInfo: MultiSeatInfo?
    /// The currency of the price (ISO 4217).
    public let currency: String?
    /// The win-back offers that the customer may take.
    public let eligibleWinBackOfferIDs: [String]?
    /// The UUID that the app gave when the subscription was bought.
    public let appAccountToken: UUID?
    /// The customer's download of the app.
    public let appTransactionID: String?
    /// The billing plan of the next period.
    public let renewalBillingPlanType: String?
    /// The fields of a commitment, unchanged.
    public let commitmentInfo: JSONValue?
    /// The fields of the Advanced Commerce API, unchanged.
    public let advancedCommerceInfo: JSONValue?
    /// The device hash in base64; only in data that the device received.
    public let deviceVerification: String?
    /// The UUID that goes into the device hash.
    public let deviceVerificationNonce: String?
    /// Every claim without a field here, and claims of a type other than documented, unchanged.
    public let otherClaims: [String: JSONValue]

    init(_ reader: inout ClaimReader) throws(VerificationError) {
        expirationIntent = try reader.open("expirationIntent")
        originalTransactionID = try reader.claim("originalTransactionId")
        autoRenewProductID = try reader.claim("autoRenewProductId")
        productID = try reader.claim("productId")
        autoRenewStatus = try reader.open("autoRenewStatus")
        isInBillingRetryPeriod = try reader.claim("isInBillingRetryPeriod")
        priceIncreaseStatus = reader.openDescription("priceIncreaseStatus")
        gracePeriodExpiresDate = try reader.date("gracePeriodExpiresDate")
        offerType = reader.openDescription("offerType")
        offerIdentifier = reader.description("offerIdentifier")
        offerDiscountType = reader.openDescription("offerDiscountType")
        offerPeriod = reader.description("offerPeriod")
        signedDate = try reader.date("signedDate")
        statedEnvironment = try reader.claim("environment")
        recentSubscriptionStartDate = try reader.date("recentSubscriptionStartDate")
        renewalDate = try reader.date("renewalDate")
        renewalPrice = reader.description("renewalPrice")
        renewalQuantity = reader.description("renewalQuantity")
        multiSeatInfo = reader.description("multiSeatInfo")
        currency = reader.description("currency")
        eligibleWinBackOfferIDs = reader.description("eligibleWinBackOfferIds")
        appAccountToken = try reader.uuid("appAccountToken")
        appTransactionID = reader.description("appTransactionId")
        renewalBillingPlanType = reader.description("renewalBillingPlanType")
        commitmentInfo = reader.description("commitmentInfo")
        advancedCommerceInfo = reader.description("advancedCommerceInfo")
        deviceVerification = try reader.claim("deviceVerification")
        deviceVerificationNonce = try reader.claim("deviceVerificationNonce")
        otherClaims = try reader.others()
    }
}
