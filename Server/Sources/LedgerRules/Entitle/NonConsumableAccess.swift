import PurchaseVerification

/// The rule for non-consumables: access from the purchase until a withdrawal of any percentage.
public enum NonConsumableAccess {
    /// The access that one purchase gives.
    static func spans(of purchase: OwnedPurchase, revocations: [HandRevocation] = []) -> [AccessSpan] {
        var list = SpanList()
        let withdrawal = purchase.withdrawal
        list.add(
            purchase, from: purchase.start,
            until: withdrawal.map { max(purchase.start, $0.date) },
            endReason: withdrawal?.reason ?? .expired, revocations: revocations)
        return list.spans
    }
}
