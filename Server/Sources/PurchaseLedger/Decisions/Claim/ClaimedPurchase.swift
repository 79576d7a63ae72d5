import PurchaseVerification

/// The facts of the claimed purchase that the decision needs.
struct ClaimedPurchase: Sendable {
    /// All facts, including those of the claim's evidence.
    var facts: ObservedTransaction
    /// The kind in the settings, if they agree with the facts.
    var kind: ProductKind?
    /// The withdrawal of the purchase under any of its transaction ids.
    var withdrawal: Withdrawal?
    /// Whether an operator revoked it.
    var isRevokedByHand = false
    /// Whether an earlier transaction of the same purchase is known.
    var isCopy: Bool
    /// Whether it was bought after an earlier purchase of the same original was withdrawn.
    var isRepurchase = false
    /// Whether it has paid an order other than the named one, and keeps it.
    var hasPaidAnotherOrder: Bool

    /// Whether the customer paid for this transaction. A restored copy of a non-consumable has a new id and is not paid for; a
    /// renewal of a subscription has a new id and is, and so is a non-consumable that was bought again after a refund. Members of
    /// families and groups pay nothing.
    var isPaidFor: Bool {
        let isRestored =
            kind == .nonConsumable && !isRepurchase && facts.key.transactionID != facts.original.transactionID
        return facts.ownership.holder == .buyer && !isRestored
    }

    /// Whether its owner has it: neither Apple nor an operator withdrew it.
    var isHad: Bool { wholeWithdrawal == nil && !isRevokedByHand }

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
