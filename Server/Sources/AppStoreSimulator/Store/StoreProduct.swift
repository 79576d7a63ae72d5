/// What an app sells.
public struct StoreProduct: Codable, Hashable, Sendable {
    /// The app that sells it.
    public let bundleID: String
    /// Its identifier; no two products of an app have the same.
    public let productID: String
    /// What kind of product it is.
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
    /// The terms, where the product is an auto-renewable subscription.
    public var subscription: Terms?

    /// The kinds of products.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// Used up, such as coins.
        case consumable
        /// Bought once and kept.
        case nonConsumable = "non-consumable"
        /// Ends, and is not renewed by the store.
        case nonRenewing = "non-renewing"
        /// Renewed by the store until somebody stops it.
        case autoRenewable = "auto-renewable"

        /// Reads a kind that is written with `-` or with `_`.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let kind = Kind(rawValue: text.replacing("_", with: "-")) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no kind of product")
            }
            self = kind
        }
    }

    /// The terms of an auto-renewable subscription.
    public struct Terms: Codable, Hashable, Sendable {
        /// Of the products of a group, a customer has one at a time.
        public var groupID: String
        /// The rank in the group; 1 is the highest level of service.
        public var level: Int
        /// How long what is paid for lasts.
        public var period: StorePeriod
        /// Offers, by their identifiers. A new subscriber gets the first introductory one by himself.
        public var offers: [StoreOffer]

        /// Terms of a subscription.
        public init(groupID: String, level: Int = 1, period: StorePeriod, offers: [StoreOffer] = []) {
            self.groupID = groupID
            self.level = level
            self.period = period
            self.offers = offers
        }

        /// Reads the terms; a missing level is 1, and missing offers are none.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            groupID = try container.decode(String.self, forKey: .groupID)
            level = try container.decodeIfPresent(Int.self, forKey: .level) ?? 1
            period = try container.decode(StorePeriod.self, forKey: .period)
            offers = try container.decodeIfPresent([StoreOffer].self, forKey: .offers) ?? []
        }
    }
}

/// Other terms for the first periods of a subscription.
public struct StoreOffer: Codable, Hashable, Sendable {
    /// Its identifier; introductory offers show it to nobody.
    public var offerID: String
    /// Who gets it.
    public var kind: Kind
    /// How it is paid.
    public var mode: Mode
    /// How long a period of it lasts.
    public var period: StorePeriod
    /// How many periods it lasts.
    public var periods: Int
    /// The price of a period, in thousandths of the currency.
    public var price: Int64

    /// Who gets an offer.
    public enum Kind: String, Codable, Hashable, Sendable {
        /// New subscribers of the group.
        case introductory
        /// Present and former subscribers whom the app chooses.
        case promotional
        /// Whoever has a code.
        case offerCode = "offer-code"
        /// Former subscribers.
        case winBack = "win-back"

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

    /// How an offer is paid.
    public enum Mode: String, Codable, Hashable, Sendable {
        /// Nothing is paid.
        case freeTrial = "FREE_TRIAL"
        /// Each period is paid when it begins.
        case payAsYouGo = "PAY_AS_YOU_GO"
        /// All periods are paid at once; they make one transaction.
        case payUpFront = "PAY_UP_FRONT"
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

    /// Reads an offer; it lasts one period and costs nothing unless it says so.
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
