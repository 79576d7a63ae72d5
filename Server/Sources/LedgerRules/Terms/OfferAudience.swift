/// The customers who may have an offer, by their subscriptions in the app.
public enum OfferAudience: String, Sendable, CaseIterable {
    case everybody
    /// Those who have a subscription now, in its period or in a grace period.
    case subscribers
    /// Those who had one, and have none now.
    case former
    /// Those who never had one.
    case new
}
