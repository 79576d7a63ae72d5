/// A named entitlement of the settings, such as `pro`, which several products can give.
public struct NamedEntitlementMessage: Codable, Sendable, Equatable {
    public var name: String
    /// `active` or `inactive`.
    public var state: EntitlementMessage.State
    /// The latest end of its active products; absent if there is none, or if one of them has no end.
    public var until: String?
    /// The active products that give it.
    public var products: [String]

    /// A named entitlement by its parts.
    public init(name: String, state: EntitlementMessage.State, until: String? = nil, products: [String]) {
        self.name = name
        self.state = state
        self.until = until
        self.products = products
    }

    enum CodingKeys: String, CodingKey {
        case name, state, until, products
    }
}
