import PurchaseVerification

/// What the decision needs to know of the claimed purchase.
struct ClaimedPurchase: Sendable {
    /// All facts, those of the claim's evidence among them.
    var facts: ObservedTransaction
    /// The kind by the settings that agree with the facts.
    var kind: ProductKind?
    /// Whether another transaction of the same purchase is known that came before it.
    var isCopy: Bool
    /// Whether it has paid another order than the one that is named.
    var hasPaidAnotherOrder: Bool

    /// Whether somebody paid for this transaction. A restored copy of a non-consumable has an id of its own; so has a renewal
    /// of a subscription, which was paid for.
    var isPaidFor: Bool {
        let isRestored = kind == .nonConsumable && facts.key.transactionID != facts.original.transactionID
        return !facts.ownership.isFamilyShared && !isRestored
    }
}
