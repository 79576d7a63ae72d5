/// The payment of an order.
public struct PaymentMessage: Codable, Sendable, Equatable {
    public var transactionID: String
    public var environment: EnvironmentName
    /// The price charged, in thousandths of the currency, as the App Store states it.
    public var price: Int64?
    /// ISO 4217.
    public var currency: String?
    /// A free trial pays an order of its subscription.
    public var offer: OfferMessage?

    public init(
        transactionID: String, environment: EnvironmentName, price: Int64? = nil, currency: String? = nil,
        offer: OfferMessage? = nil
    ) {
        (self.transactionID, self.environment, self.price) = (transactionID, environment, price)
        (self.currency, self.offer) = (currency, offer)
    }

    enum CodingKeys: String, CodingKey {
        case environment, price, currency, offer
        case transactionID = "transaction_id"
    }
}

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

    public init(type: Int64? = nil, identifier: String? = nil, discountType: String? = nil, period: String? = nil) {
        (self.type, self.identifier, self.discountType, self.period) = (type, identifier, discountType, period)
    }

    enum CodingKeys: String, CodingKey {
        case type, identifier, period
        case discountType = "discount_type"
    }
}
