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

    /// A request by its required parts.
    public init(customerID: String, kind: String) {
        self.customerID = customerID
        self.kind = kind
    }

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
