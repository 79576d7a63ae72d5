/// `GET /v1/customers/{id}/offers` and `GET /v1/me/offers`: what a customer may have next.
public struct CustomerOffers: Codable, Sendable, Equatable {
    public var customerID: String
    /// The customer into whom the named one was merged; absent if they were not.
    public var mergedInto: String?
    public var offers: [Offer]

    public init(customerID: String, mergedInto: String?, offers: [Offer]) {
        (self.customerID, self.mergedInto, self.offers) = (customerID, mergedInto, offers)
    }

    public struct Offer: Codable, Sendable, Equatable {
        public var productID: String
        /// The id in App Store Connect; absent for introductory offers.
        public var offerID: String?
        /// `introductory`, `promotional` or `win_back`.
        public var type: String
        public var eligible: Bool
        /// Why they may have it, or may not.
        public var reason: String

        public init(productID: String, offerID: String?, type: String, eligible: Bool, reason: String) {
            self.productID = productID
            self.offerID = offerID
            self.type = type
            self.eligible = eligible
            self.reason = reason
        }

        enum CodingKeys: String, CodingKey {
            case type, eligible, reason
            case productID = "product_id"
            case offerID = "offer_id"
        }
    }

    enum CodingKeys: String, CodingKey {
        case offers
        case customerID = "customer_id"
        case mergedInto = "merged_into"
    }
}
