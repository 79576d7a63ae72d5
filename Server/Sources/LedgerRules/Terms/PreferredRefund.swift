/// The outcome of a customer's refund request that an app prefers (Apple, "refundPreference").
public enum PreferredRefund: String, Sendable, CaseIterable, Codable {
    /// The app states no preference.
    case none
    case decline
    case grantFull = "grant_full"
    /// The unused part. For auto-renewable subscriptions Apple computes it.
    case grantProrated = "grant_prorated"
}
