/// What is asked of the App Store Server API, besides claims.
public enum AppStoreTaskKind: String, Sendable, CaseIterable {
    /// The notifications of an app that did not arrive.
    case notifications
    /// The status of a subscription whose period has ended without news.
    case status
    /// The account token of a purchase is set at Apple.
    case token
    /// The history and the statuses of a customer of Apple's, by one of their purchases.
    case history
}
