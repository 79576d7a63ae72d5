public import PurchaseVerification

/// A customer's access to a named entitlement, which several products can give.
public struct NamedAccess: Sendable, Hashable {
    /// The name in the settings, such as `pro`.
    public var name: ExactText
    /// Whether any of its products is active.
    public var isActive: Bool
    /// The latest end of the active products; `nil` if none is active, or if one of them has no end.
    public var until: Timestamp?
    /// The active products that give it.
    public var products: [ExactText]

    /// Creates a named entitlement.
    public init(name: ExactText, isActive: Bool, until: Timestamp?, products: [ExactText]) {
        self.name = name
        self.isActive = isActive
        self.until = until
        self.products = products
    }
}
