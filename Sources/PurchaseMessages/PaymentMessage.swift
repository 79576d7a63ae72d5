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

    /// A payment by its parts.
    public init(
        transactionID: String, environment: EnvironmentName, price: Int64? = nil, currency: String? = nil,
        offer: OfferMessage? = nil
    ) {
        self.transactionID = transactionID
        self.environment = environment
        self.price = price
        self.currency = currency
        self.offer = offer
    }

    enum CodingKeys: String, CodingKey {
        case environment, price, currency, offer
        case transactionID = "transaction_id"
    }
}
