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

/// Who invites the members of a subscription with seats, in Apple's words (`invitationManagement`).
public enum SeatInvitations: String, Codable, Hashable, Sendable, CaseIterable {
    /// Apple does. Each member has a transaction.
    case apple = "APPLE"
    /// The app's backend does, and is the record of the members. They have no transactions.
    case developer = "DEVELOPER"

    /// Reads one of the words above, in capital or small letters.
    public init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) { $0.uppercased() } }
}
