/// The offer under which something was bought, with the values of the App Store.
public struct OfferMessage: Codable, Sendable, Equatable {
    /// `offerType`: 1 introductory, 2 promotional, 3 offer code, 4 win-back.
    public var type: Int64?
    /// `offerIdentifier`.
    public var identifier: String?
    /// `offerDiscountType`: `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT` or `ONE_TIME`.
    public var discountType: String?
    /// `offerPeriod`, an ISO 8601 duration.
    public var period: String?

    /// An offer by its values.
    public init(type: Int64? = nil, identifier: String? = nil, discountType: String? = nil, period: String? = nil) {
        self.type = type
        self.identifier = identifier
        self.discountType = discountType
        self.period = period
    }

    enum CodingKeys: String, CodingKey {
        case type, identifier, period
        case discountType = "discount_type"
    }
}
