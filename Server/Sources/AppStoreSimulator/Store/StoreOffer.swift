/// Other terms for the first periods of a subscription.
public struct StoreOffer: Codable, Hashable, Sendable {
    /// Its identifier; evidence does not show it for introductory offers.
    public var offerID: String
    /// The customers who are eligible.
    public var kind: Kind
    /// The way of payment.
    public var mode: Mode
    /// The length of one period of the offer.
    public var period: StorePeriod
    /// The number of periods.
    public var periods: Int
    /// The price of a period, in thousandths of the currency.
    public var price: Int64

    /// The customers who are eligible for an offer.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// New subscribers of the group.
        case introductory
        /// Present and former subscribers chosen by the app.
        case promotional
        /// Customers with a code.
        case offerCode = "offer-code"
        /// Former subscribers.
        case winBack = "win-back"

        /// Reads one of the words above.
        public init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }

        /// The number in signed transactions (`offerType`).
        public var number: Int {
            switch self {
            case .introductory: 1
            case .promotional: 2
            case .offerCode: 3
            case .winBack: 4
            }
        }
    }

    /// The ways of payment of an offer.
    public enum Mode: String, Codable, Hashable, Sendable, CaseIterable {
        /// The customer pays nothing.
        case freeTrial = "FREE_TRIAL"
        /// Each period is paid when it begins.
        case payAsYouGo = "PAY_AS_YOU_GO"
        /// All periods are paid at once, in one transaction.
        case payUpFront = "PAY_UP_FRONT"

        /// Reads one of the words above.
        public init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }
    }

    public init(offerID: String, kind: Kind, mode: Mode, period: StorePeriod, periods: Int = 1, price: Int64 = 0) {
        self.offerID = offerID
        self.kind = kind
        self.mode = mode
        self.period = period
        self.periods = periods
        self.price = price
    }

    /// Reads an offer; by default it lasts one period and costs nothing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        offerID = try container.decode(String.self, forKey: .offerID)
        kind = try container.decode(Kind.self, forKey: .kind)
        mode = try container.decode(Mode.self, forKey: .mode)
        period = try container.decode(StorePeriod.self, forKey: .period)
        periods = try container.decodeIfPresent(Int.self, forKey: .periods) ?? 1
        price = try container.decodeIfPresent(Int64.self, forKey: .price) ?? 0
    }
}
