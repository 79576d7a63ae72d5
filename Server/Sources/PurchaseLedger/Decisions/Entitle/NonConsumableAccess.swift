import PurchaseVerification

/// The rule for non-consumables: access from the purchase until a withdrawal of any percentage.
public enum NonConsumableAccess {
    /// The access that one purchase gives.
    public static func spans(of purchase: OwnedPurchase, revocations: [HandRevocation] = []) -> [AccessSpan] {
        var list = SpanList()
        let withdrawal = purchase.withdrawal
        list.add(
            purchase, from: purchase.start,
            until: withdrawal.map { max(purchase.start, $0.date) },
            endReason: withdrawal?.cause == .cancelled ? .cancelled : .revoked, revocations: revocations)
        return SpanList.joined(list.spans)
    }
}
