/// What the ledger knows of a purchase about whose use Apple asks.
public struct ConsumptionSituation: Sendable, Equatable, Codable {
    /// The customer's consent that their use is told to Apple.
    public enum Consent: String, Sendable, Codable {
        /// The customer was not asked, or their answer is not recorded.
        case unknown
        case given
        case refused
    }

    /// Who has the purchase.
    public enum Holder: String, Sendable, Codable {
        case buyer
        /// A member of the buyer's family.
        case family
        /// A member to whom a seat was assigned.
        case seat
    }

    public var productID: String?
    /// The kind of product under the settings (`ProductKind`); `nil` if they do not have it, so that it gives nothing.
    public var kind: String?
    public var holder: Holder
    /// Whether a customer owns it.
    public var isOwned: Bool
    public var consent: Consent
    /// The purchased units.
    public var quantity: Int64
    /// The units of a consumable that its owner took, by consuming them or by an order that was fulfilled.
    public var used: Int64
    /// Whether the owner has it: the order that it paid was delivered at least in part or, without an order, it counts
    /// for its owner.
    public var isDelivered: Bool
    /// Whether Apple has taken all or a part of it back already.
    public var isWithdrawn: Bool

    /// A situation by its parts.
    public init(
        productID: String?, kind: ProductKind?, holder: Holder, isOwned: Bool, consent: Consent, quantity: Int64,
        used: Int64, isDelivered: Bool, isWithdrawn: Bool
    ) {
        self.productID = productID
        self.kind = kind?.rawValue
        self.holder = holder
        self.isOwned = isOwned
        self.consent = consent
        self.quantity = quantity
        self.used = used
        self.isDelivered = isDelivered
        self.isWithdrawn = isWithdrawn
    }

    package var productKind: ProductKind? { kind.flatMap(ProductKind.init(rawValue:)) }
}
