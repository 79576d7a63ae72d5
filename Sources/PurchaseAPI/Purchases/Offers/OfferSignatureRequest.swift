/// `POST /v1/offers/signatures`: a signature with which the app shows an offer to a customer.
public struct OfferSignatureRequest: Codable, Sendable, Equatable {
    public var customerID: String
    /// `promotional`, `promotional_v1`, `introductory_eligibility` or `advanced_commerce`.
    public var kind: String
    /// The app's bundle id, if the app has several in the settings.
    public var bundleID: String?
    /// The product; for every kind but `advanced_commerce`.
    public var productID: String?
    /// The id of a promotional offer.
    public var offerID: String?
    /// A transaction of the customer, or their `appTransactionId`: required for `introductory_eligibility`, recommended
    /// for `promotional`.
    public var transactionID: String?
    /// Whether the customer may have the introductory offer; only for `introductory_eligibility`.
    public var allowIntroductoryOffer: Bool?
    /// The app account token of the purchase; only for `promotional_v1`, where it may be absent.
    public var appAccountToken: String?
    /// The request of the Advanced Commerce API as the app will pass it on: JSON as text; only for `advanced_commerce`.
    public var request: String?

    public init(customerID: String, kind: String) { (self.customerID, self.kind) = (customerID, kind) }

    enum CodingKeys: String, CodingKey {
        case kind, request
        case customerID = "customer_id"
        case bundleID = "bundle_id"
        case productID = "product_id"
        case offerID = "offer_id"
        case transactionID = "transaction_id"
        case allowIntroductoryOffer = "allow_introductory_offer"
        case appAccountToken = "app_account_token"
    }
}

extension OfferSignatureRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        customerID = members.identifier(CodingKeys.customerID)
        kind = members.identifier(CodingKeys.kind)
        bundleID = members.optionalIdentifier(CodingKeys.bundleID)
        productID = members.optionalIdentifier(CodingKeys.productID)
        offerID = members.optionalIdentifier(CodingKeys.offerID)
        transactionID = members.optionalIdentifier(CodingKeys.transactionID)
        allowIntroductoryOffer = members.flag(CodingKeys.allowIntroductoryOffer)
        appAccountToken = members.optionalIdentifier(CodingKeys.appAccountToken)
        request = members.text(CodingKeys.request)
    }
}

/// A signed offer, with everything that the app passes to StoreKit.
public struct OfferSignatureMessage: Codable, Sendable, Equatable {
    public var customerID: String
    public var kind: String
    /// The compact JSON Web Signature; for every kind but `promotional_v1`.
    public var jws: String?
    /// The signature in base64; only for `promotional_v1`, like the three below.
    public var signature: String?
    public var keyID: String?
    public var nonce: String?
    /// In milliseconds since 1970.
    public var timestamp: Int64?
    public var productID: String?
    public var offerID: String?
    public var signedAt: String
    /// The entry in the record.
    public var entryID: String
    /// The customer into whom the one of the request was merged; absent if they were not.
    public var mergedInto: String?

    public init(customerID: String, kind: String, signedAt: String, entryID: String) {
        (self.customerID, self.kind, self.signedAt, self.entryID) = (customerID, kind, signedAt, entryID)
    }

    enum CodingKeys: String, CodingKey {
        case kind, jws, signature, nonce, timestamp
        case customerID = "customer_id"
        case keyID = "key_id"
        case productID = "product_id"
        case offerID = "offer_id"
        case signedAt = "signed_at"
        case entryID = "entry_id"
        case mergedInto = "merged_into"
    }
}
