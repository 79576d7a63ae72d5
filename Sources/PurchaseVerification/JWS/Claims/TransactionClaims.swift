#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The claims of a signed transaction (Apple, "JWSTransactionDecodedPayload").
public final class TransactionClaims: SignedClaims {
    /// Empty only if `productID` is empty, too: signed data that names neither, as in the test data of Apple's
    /// libraries, verifies and is no purchase.
    public let transactionID: String
    /// The first transaction of a subscription or of a restored product.
    public let originalTransactionID: String?
    /// The first transaction of the subscription that this one continues.
    public let previousOriginalTransactionID: String?
    /// The order line of a subscription period.
    public let webOrderLineItemID: String?
    /// The bundle id of the app.
    public let bundleID: String?
    /// See `transactionID`.
    public let productID: String
    public let subscriptionGroupIdentifier: String?
    /// When it was bought or renewed.
    public let purchaseDate: AppStoreTime?
    /// When it was first bought.
    public let originalPurchaseDate: AppStoreTime?
    /// When the paid period ends; only for auto-renewable subscriptions.
    public let expiresDate: AppStoreTime?
    public let quantity: UInt64?
    /// The kind of product.
    public let productType: ProductType?
    /// The UUID that the app gave when it was bought.
    public let appAccountToken: UUID?
    /// Whether it was bought or comes through Family Sharing.
    public let ownershipType: OwnershipType?
    /// The signing date, at which the validity of its certificates is checked.
    public let signedDate: AppStoreTime?
    public let revocationReason: RevocationReason?
    /// When Apple refunded or revoked it.
    public let revocationDate: AppStoreTime?
    /// The extent of the revocation.
    public let revocationType: RevocationType?
    /// The share that Apple paid back, in thousandths of a percent.
    public let revocationPercentage: Int64?
    /// Whether the customer upgraded to a better product of the group.
    public let isUpgraded: Bool?
    /// The kind of offer that applied.
    public let offerType: AppStoreOfferType?
    /// The offer that applied.
    public let offerIdentifier: String?
    /// The way of payment of the offer.
    public let offerDiscountType: OfferDiscountType?
    /// The length of the offer (ISO 8601 duration).
    public let offerPeriod: String?
    /// The stated environment; absent in data of 2021.
    public let statedEnvironment: String?
    /// The country of the store (ISO 3166-1 alpha-3).
    public let storefront: String?
    /// The number of the store.
    public let storefrontID: String?
    public let transactionReason: TransactionReason?
    /// The reason for this transaction, if the period has more than one. It does not replace the others.
    public let additionalTransactionReason: AdditionalTransactionReason?
    /// The seats of the subscription; `quantity` is the number of seats of this transaction.
    public let multiSeatInfo: MultiSeatInfo?
    /// The currency of the price (ISO 4217).
    public let currency: String?
    /// The price in thousandths of the currency.
    public let price: Int64?
    /// The customer's download of the app.
    public let appTransactionID: String?
    /// The fields of the Advanced Commerce API, unchanged.
    public let advancedCommerceInfo: JSONValue?
    /// The billing plan of a subscription with a commitment.
    public let billingPlanType: String?
    /// The fields of a commitment, unchanged.
    public let commitmentInfo: JSONValue?
    /// The device hash in base64; only in data that the device received.
    public let deviceVerification: String?
    /// The UUID that goes into the device hash.
    public let deviceVerificationNonce: String?
    /// Every claim without a field here, and claims of a type other than documented, unchanged.
    public let otherClaims: [String: JSONValue]

    /// - Throws: `claims_malformed`, or `attribute_missing` if it names a transaction without a product, or a product
    ///   without a transaction: it can neither be granted nor told apart.
    init(_ reader: inout ClaimReader) throws(VerificationError) {
        (transactionID, productID) = try reader.identifiers("transactionId", "productId")
        originalTransactionID = try reader.claim("originalTransactionId")
        previousOriginalTransactionID = reader.description("previousOriginalTransactionId")
        webOrderLineItemID = reader.description("webOrderLineItemId")
        bundleID = try reader.claim("bundleId")
        subscriptionGroupIdentifier = reader.description("subscriptionGroupIdentifier")
        purchaseDate = try reader.date("purchaseDate")
        originalPurchaseDate = try reader.date("originalPurchaseDate")
        expiresDate = try reader.date("expiresDate")
        quantity = try reader.claim("quantity")
        productType = try reader.open("type")
        appAccountToken = try reader.uuid("appAccountToken")
        ownershipType = try reader.open("inAppOwnershipType")
        signedDate = try reader.date("signedDate")
        revocationReason = try reader.open("revocationReason")
        revocationDate = try reader.date("revocationDate")
        revocationType = reader.openDescription("revocationType")
        revocationPercentage = reader.description("revocationPercentage")
        isUpgraded = try reader.claim("isUpgraded")
        offerType = reader.openDescription("offerType")
        offerIdentifier = reader.description("offerIdentifier")
        offerDiscountType = reader.openDescription("offerDiscountType")
        offerPeriod = reader.description("offerPeriod")
        statedEnvironment = try reader.claim("environment")
        storefront = reader.description("storefront")
        storefrontID = reader.description("storefrontId")
        transactionReason = reader.openDescription("transactionReason")
        additionalTransactionReason = reader.openDescription("additionalTransactionReason")
        multiSeatInfo = reader.description("multiSeatInfo")
        currency = reader.description("currency")
        price = reader.description("price")
        appTransactionID = reader.description("appTransactionId")
        advancedCommerceInfo = reader.description("advancedCommerceInfo")
        billingPlanType = reader.description("billingPlanType")
        commitmentInfo = reader.description("commitmentInfo")
        deviceVerification = try reader.claim("deviceVerification")
        deviceVerificationNonce = try reader.claim("deviceVerificationNonce")
        otherClaims = try reader.others()
    }
}
