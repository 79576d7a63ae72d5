/// What is known about a subscription at a time, by the table that also decides entitlements.
public struct SubscriptionStanding: Sendable {
    /// The period that counts.
    public let purchase: OwnedPurchase
    /// The state of that period.
    public let state: SubscriptionState
    /// The signed renewal info about it.
    public let renewal: RenewalStatement?
    /// Whether signed news are about that period, and it has not ended since without news.
    public let isConfirmed: Bool
}
