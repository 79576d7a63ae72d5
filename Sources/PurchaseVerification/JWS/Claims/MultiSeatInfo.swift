/// The seats of a subscription that one purchaser buys for several people (Apple, "multiSeatInfo").
public struct MultiSeatInfo: Sendable, Equatable {
    /// Who invites the members. With `DEVELOPER`, members have no transaction.
    public let invitationManagement: InvitationManagement?
    /// The price of the seats of this transaction.
    public let priceTiers: [PriceTier]
    /// The price of the seats of the next period; only in renewal info.
    public let renewalPriceTiers: [PriceTier]
    /// The seats of this transaction that were refunded.
    public let revokedSeatQuantity: Int64?
    /// The whole object, unchanged.
    public let members: [String: JSONValue]

    /// Who invites the members of a subscription with seats.
    public struct InvitationManagement: OpenValue {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let apple = Self(rawValue: "APPLE")
        public static let developer = Self(rawValue: "DEVELOPER")
    }

    /// A number of seats at one price.
    public struct PriceTier: Sendable, Equatable {
        /// The price of one seat, in thousandths of the currency.
        public let price: Int64?
        /// The number of seats.
        public let quantity: Int64?
    }

    /// `nil` if the value is not an object.
    init?(_ value: JSONValue) {
        guard case .object(let members) = value else { return nil }
        self.members = members
        invitationManagement = members["invitationManagement"]?.openValue.map(InvitationManagement.init)
        priceTiers = Self.tiers(members["priceTiers"])
        renewalPriceTiers = Self.tiers(members["renewalPriceTiers"])
        revokedSeatQuantity = members["revokedSeatQuantity"]?.integer
    }

    private static func tiers(_ value: JSONValue?) -> [PriceTier] {
        guard case .array(let tiers) = value else { return [] }
        return tiers.compactMap { tier in
            guard case .object(let members) = tier else { return nil }
            return PriceTier(price: members["price"]?.integer, quantity: members["quantity"]?.integer)
        }
    }
}
