import PurchaseVerification

/// What the decision needs to know of the claimed purchase.
struct ClaimedPurchase: Sendable {
    /// All facts, those of the claim's evidence among them.
    var facts: ObservedTransaction
    /// The kind by the settings that agree with the facts.
    var kind: ProductKind?
    /// The withdrawal of the purchase under any of its transaction ids.
    var withdrawal: Withdrawal?
    /// Whether an operator revoked it.
    var isRevokedByHand = false
    /// Whether another transaction of the same purchase is known that came before it.
    var isCopy: Bool
    /// Whether it has paid another order than the one that is named, and keeps it.
    var hasPaidAnotherOrder: Bool

    /// Whether somebody paid for this transaction. A restored copy of a non-consumable has an id of its own; so has a renewal
    /// of a subscription, which was paid for.
    var isPaidFor: Bool {
        let isRestored = kind == .nonConsumable && facts.key.transactionID != facts.original.transactionID
        return !facts.ownership.isFamilyShared && !isRestored
    }

    /// The withdrawal, if it takes the purchase as a whole. Any part takes what cannot be divided.
    var wholeWithdrawal: Withdrawal? {
        guard let withdrawal else { return nil }
        let isWhole =
            switch kind {
            case .consumable, .nonRenewing: withdrawal.units >= facts.quantity
            case .nonConsumable, .autoRenewable, nil: withdrawal.units > 0
            }
        return isWhole ? withdrawal : nil
    }
}
