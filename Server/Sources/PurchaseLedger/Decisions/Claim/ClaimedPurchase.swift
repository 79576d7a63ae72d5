import PurchaseVerification

/// The facts of the claimed purchase that the decision needs.
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
    /// Whether it has paid another order than the named one, and keeps it.
    var hasPaidAnotherOrder: Bool

    /// Whether the customer paid for this transaction. A restored copy of a non-consumable has a new id; so has a
    /// renewal of a subscription, which was paid for.
    var isPaidFor: Bool {
        let isRestored = kind == .nonConsumable && facts.key.transactionID != facts.original.transactionID
        return !facts.ownership.isFamilyShared && !isRestored
    }

    /// The withdrawal, if it withdraws the whole purchase. Any part withdraws an indivisible purchase.
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
