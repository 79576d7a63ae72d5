import PurchaseVerification

/// The facts of the claimed purchase that the decision needs.
package struct ClaimedPurchase: Sendable {
    /// All facts, including those of the claim's evidence.
    package var facts: ObservedTransaction
    /// The kind in the settings, if they agree with the facts.
    package var kind: ProductKind?
    /// The withdrawal of the purchase under any of its transaction ids.
    package var withdrawal: Withdrawal?
    /// Whether an operator revoked it.
    package var isRevokedByHand = false
    /// The earliest transaction of the same purchase, if this one is a copy.
    package var earliest: ObservedTransaction?
    /// Whether it was bought after an earlier purchase of the same original was withdrawn.
    package var isRepurchase = false
    /// Whether it has paid the named order, under any of its transaction ids.
    package var hasPaidOrder = false
    /// Whether it has paid an order other than the named one, and keeps it.
    package var hasPaidAnotherOrder = false

    package init(_ facts: ObservedTransaction, kind: ProductKind?, withdrawal: Withdrawal?) {
        (self.facts, self.kind, self.withdrawal) = (facts, kind, withdrawal)
    }

    var isCopy: Bool { earliest != nil }

    /// The facts of what was paid for: a copy can be younger than the purchase.
    package var paid: ObservedTransaction { earliest ?? facts }

    /// Whether the customer paid for it. A restored non-consumable has a new id and is not paid for; a renewal of a
    /// subscription has a new id and is, and so is a non-consumable that was bought again after a refund. Members of
    /// families and groups pay nothing.
    var isPaidFor: Bool {
        let isRestored =
            kind == .nonConsumable && !isRepurchase && paid.key.transactionID != paid.original.transactionID
        return paid.ownership.holder == .buyer && !isRestored
    }

    /// Whether the App Store renewed the subscription by itself. Signed data says so; a receipt does not, so there it
    /// is a period of the same product after an earlier one.
    ///
    /// - Parameter others: the known transactions of the same original.
    package func isAutomaticRenewal(among others: [ObservedTransaction]) -> Bool {
        guard kind == .autoRenewable else { return false }
        if let reason = paid.reason { return reason == ExactText("RENEWAL") }
        return others.contains { other in
            guard other.productID == paid.productID, let start = paid.purchaseDate, let end = other.end,
                let earlier = other.purchaseDate
            else { return false }
            return earlier < start && (paid.end.map { end < $0 } ?? false)
        }
    }
    /// Whether its owner has it: neither Apple nor an operator withdrew it.
    package var isHad: Bool { wholeWithdrawal == nil && !isRevokedByHand }

    /// The withdrawal, if it withdraws the whole purchase. Any part withdraws an indivisible purchase.
    package var wholeWithdrawal: Withdrawal? {
        guard let withdrawal else { return nil }
        let isWhole =
            switch kind {
            case .consumable, .nonRenewing: withdrawal.units >= facts.quantity
            case .nonConsumable, .autoRenewable, nil: withdrawal.units > 0
            }
        return isWhole ? withdrawal : nil
    }
}
