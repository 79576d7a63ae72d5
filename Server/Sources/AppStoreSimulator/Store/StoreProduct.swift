/// A product of an app.
public struct StoreProduct: Codable, Hashable, Sendable {
    /// The app that sells it.
    public let bundleID: String
    /// Its identifier; no two products of an app have the same.
    public let productID: String
    /// The kind of product.
    public let kind: Kind
    /// The number of the product in the store.
    public var productNumber: UInt64
    /// The price in thousandths of the currency, as in signed transactions.
    public var price: Int64
    /// ISO 4217, such as `USD`.
    public var currency: String
    /// Whether a family may share it.
    public var isFamilyShareable: Bool
    /// Whether it can be bought and renewed at present.
    public var isForSale: Bool
    /// The terms, if the product is an auto-renewable subscription.
    public var subscription: Terms?

    /// The kinds of products.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// Used up, such as coins.
        case consumable
        /// Bought once and kept.
        case nonConsumable = "non-consumable"
        /// Ends, and is not renewed by the store.
        case nonRenewing = "non-renewing"
        /// Renewed by the store until the customer cancels it.
        case autoRenewable = "auto-renewable"

        /// Reads a kind that is written with `-` or with `_`.
        public init(from decoder: any Decoder) throws {
            self = try Self.word(from: decoder) { $0.replacing("_", with: "-") }
        }
    }

    /// The terms of an auto-renewable subscription.
    public struct Terms: Codable, Hashable, Sendable {
        /// The group of products. A customer has one product of a group at a time.
        public var groupID: String
        /// The rank in the group; 1 is the highest level of service.
        public var level: Int
        /// The length of a paid period.
        public var period: StorePeriod
        /// Offers, by their identifiers. A new subscriber gets the first introductory one automatically.
        public var offers: [StoreOffer]
        /// Who invites the members, if one customer buys seats for several people; nil for any other subscription.
        public var invitations: SeatInvitations?

        /// Terms of a subscription.
        public init(
            groupID: String, level: Int = 1, period: StorePeriod, offers: [StoreOffer] = [],
            invitations: SeatInvitations? = nil
        ) {
            self.invitations = invitations
            self.groupID = groupID
            self.level = level
            self.period = period
            self.offers = offers
        }

        /// Reads the terms; the default level is 1, and the default list of offers is empty.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            groupID = try container.decode(String.self, forKey: .groupID)
            level = try container.decodeIfPresent(Int.self, forKey: .level) ?? 1
            period = try container.decode(StorePeriod.self, forKey: .period)
            offers = try container.decodeIfPresent([StoreOffer].self, forKey: .offers) ?? []
            invitations = try container.decodeIfPresent(SeatInvitations.self, forKey: .invitations)
        }
    }
}

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

    /// An offer.
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
