public import Foundation

/// A product of an app.
public struct StoreProduct: Codable, Hashable, Sendable {
    public let bundleID: String
    /// Its identifier; no two products of an app have the same.
    public let productID: String
    public let kind: Kind
    /// The number of the product in the store.
    public var productNumber: UInt64
    /// The price in thousandths of the currency, as in signed transactions.
    public var price: Int64
    /// ISO 4217, such as `USD`.
    public var currency: String
    public var isFamilyShareable: Bool
    /// Whether it can be bought and renewed at present.
    public var isForSale: Bool
    /// The terms, if the product is an auto-renewable subscription.
    public var subscription: Terms?

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

        public init(
            groupID: String, level: Int = 1, period: StorePeriod, offers: [StoreOffer] = [],
            invitations: SeatInvitations? = nil
        ) {
            (self.invitations, self.groupID, self.level, self.period) = (invitations, groupID, level, period)
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

/// Who invites the members of a subscription with seats, in Apple's words (`invitationManagement`).
public enum SeatInvitations: String, Codable, Hashable, Sendable, CaseIterable {
    /// Apple does. Each member has a transaction.
    case apple = "APPLE"
    /// The app's backend does, and is the record of the members. They have no transactions.
    case developer = "DEVELOPER"

    /// Reads one of the words above, in capital or small letters.
    public init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) { $0.uppercased() } }
}

/// Other terms for the first periods of a subscription.
public struct StoreOffer: Codable, Hashable, Sendable {
    /// Its identifier; evidence does not show it for introductory offers.
    public var offerID: String
    public var kind: Kind
    public var mode: Mode
    /// The length of one period of the offer.
    public var period: StorePeriod
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

        public init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }
    }

    public init(offerID: String, kind: Kind, mode: Mode, period: StorePeriod, periods: Int = 1, price: Int64 = 0) {
        (self.offerID, self.kind, self.mode, self.period) = (offerID, kind, mode, period)
        (self.periods, self.price) = (periods, price)
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

/// A length of time in the units that the store sells in, written as in ISO 8601: `P3D`, `P1W`, `P1M`, `P1Y`.
public struct StorePeriod: Hashable, Sendable {
    public let count: Int
    public let unit: Unit

    /// The units, by their letters.
    public enum Unit: String, Sendable {
        /// Days, weeks, months and years of the Gregorian calendar, in UTC.
        case day = "D", week = "W", month = "M", year = "Y"
    }

    /// A period of at least one and at most 10,000 units; nil otherwise.
    public init?(_ count: Int, _ unit: Unit) {
        guard (1...10_000).contains(count) else { return nil }
        (self.count, self.unit) = (count, unit)
    }

    /// Reads the format of ISO 8601 with one unit; nil if the text has another format.
    public init?(_ text: String) {
        guard text.hasPrefix("P"), let letter = text.last, let unit = Unit(rawValue: String(letter)),
            let count = Int(text.dropFirst().dropLast())
        else { return nil }
        self.init(count, unit)
    }

    /// The time that is this period after another time. Months are clamped to their last day: a month after January 31
    /// is the end of February.
    public func end(from start: Date, periods: Int = 1) -> Date {
        let total = count * periods
        var components = DateComponents()
        switch unit {
        case .day: components.day = total
        case .week: components.day = total * 7
        case .month: components.month = total
        case .year: components.year = total
        }
        // The calendar has an answer for every date that the store's clock can show.
        return Self.calendar.date(byAdding: components, to: start) ?? start
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}

extension StorePeriod: CustomStringConvertible {
    public var description: String { "P\(count)\(unit.rawValue)" }
}

extension StorePeriod: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let period = StorePeriod(text) else {
            throw MalformedValue.error(
                "'\(text.prefix(40))' is not a period such as P1M.", at: container.codingPath)
        }
        self = period
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
