/// The source of access to a product.
public enum AccessSource: Sendable, Hashable {
    /// A purchase: a consumable, a non-consumable, or a whole subscription.
    case purchase(OwnershipKey)
    /// All non-renewing subscriptions of one customer and product together, because each begins when the previous one
    /// ends.
    case passes
    /// A manual grant, by its journal entry.
    case grant(Int64)
}
