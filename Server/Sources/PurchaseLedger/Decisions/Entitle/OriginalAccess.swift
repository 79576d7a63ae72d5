import PurchaseVerification

/// The spans and lots that are stored for one original transaction, for any owner. Passes are not included, because those of one
/// customer and product are chained across originals (`PassAccess`).
public struct OriginalAccess: Sendable {
    /// Spans of subscriptions and non-consumables, and the reasons why purchases of an unknown kind give nothing.
    public let spans: [AccessSpan]
    /// The access of each single purchase, before spans are joined: the answer to a claim of one purchase. Each part names the
    /// first transaction of its purchase.
    public let parts: [AccessSpan]
    /// Lots of consumables.
    public let lots: [ConsumableLot]
    /// Passes, for `PassAccess`.
    public let passes: [OwnedPurchase]

    /// Computes the spans and lots of an original.
    ///
    /// - Parameters:
    ///   - purchases: every purchase of one `OwnershipKey`, in the order of `PurchaseGrouping`.
    ///   - renewal: the renewal facts of the original.
    ///   - revocations: the manual revocations of the original.
    public init(
        _ purchases: [OwnedPurchase], renewal: ObservedRenewal?, revocations: [HandRevocation] = []
    ) {
        var periods: [OwnedPurchase] = []
        var (parts, lots, passes): ([AccessSpan], [ConsumableLot], [OwnedPurchase]) = ([], [], [])
        for purchase in purchases {
            // The kind stated by the evidence selects the rule; if the settings differ, the rule refuses the purchase.
            switch purchase.statedKind ?? purchase.terms?.kind {
            case .autoRenewable: periods.append(purchase)
            case .nonRenewing: passes.append(purchase)
            case .consumable: lots += [ConsumableLot(purchase, revocations: revocations)].compactMap(\.self)
            case .nonConsumable, nil: parts += NonConsumableAccess.spans(of: purchase, revocations: revocations)
            }
        }
        let periodParts = SubscriptionAccess.parts(of: periods, renewal: renewal, revocations: revocations)
        spans = parts + SubscriptionAccess.joined(periodParts, of: periods)
        (self.parts, self.lots, self.passes) = (parts + periodParts, lots, passes)
    }
}
