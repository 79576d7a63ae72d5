import PurchaseVerification

/// The grounds and lots that the purchases of one holder of an original give, for any owner. Passes are not included,
/// because those of one customer and product are chained across originals (`PassAccess`); only the reasons why they
/// give nothing are.
public struct OriginalAccess: Sendable {
    /// The grounds of subscriptions and non-consumables, with the reasons why purchases of an unknown kind give
    /// nothing.
    public let grounds: [AccessGround]
    /// Lots of consumables.
    public let lots: [ConsumableLot]
    /// Passes, for `PassAccess`.
    public let passes: [OwnedPurchase]

    /// Computes the grounds and lots of an original.
    ///
    /// - Parameters:
    ///   - purchases: every purchase of one `OwnershipKey`, in the order of `PurchaseGrouping`.
    ///   - renewal: the renewal facts of the original.
    ///   - revocations: the manual revocations of the original.
    ///   - status: the newest signed status of the subscription.
    public init(
        _ purchases: [OwnedPurchase], renewal: ObservedRenewal?, revocations: [HandRevocation] = [],
        status: SignedStatus? = nil
    ) {
        var periods: [OwnedPurchase] = []
        var (spans, lots, passes): ([AccessSpan], [ConsumableLot], [OwnedPurchase]) = ([], [], [])
        for purchase in purchases {
            // The kind stated by the evidence selects the rule; if the settings differ, the rule refuses the purchase.
            switch purchase.statedKind ?? purchase.terms?.kind {
            case .autoRenewable: periods.append(purchase)
            case .nonRenewing: passes.append(purchase)
            case .consumable: lots += [ConsumableLot(purchase, revocations: revocations)].compactMap(\.self)
            case .nonConsumable, nil: spans += NonConsumableAccess.spans(of: purchase, revocations: revocations)
            }
        }
        // The chain of passes is computed for each customer. These are only the reasons why it gives others nothing.
        spans += passes.flatMap(PassAccess.notes)
        grounds =
            spans.grounds
            + SubscriptionAccess.grounds(of: periods, renewal: renewal, revocations: revocations, status: status)
        (self.lots, self.passes) = (lots, passes)
    }
}
