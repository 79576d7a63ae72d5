/// The four kinds of products of the App Store.
public enum ProductKind: String, Sendable, CaseIterable {
    /// Used up: each purchase adds to a balance.
    case consumable
    /// Bought once and kept.
    case nonConsumable = "non_consumable"
    /// Renewed by the App Store until it is cancelled. The evidence states its end.
    case autoRenewable = "auto_renewable"
    /// Ends after a duration that the settings state.
    case nonRenewing = "non_renewing"
}
