public import PurchaseVerification

/// Work with the App Store Server API that one server does at a time.
public struct AppStoreTask: Sendable, Equatable {
    public let kind: AppStoreTaskKind
    /// The app of the settings.
    public let app: String
    public let environment: AppStoreEnvironment
    /// A bundle id for notifications, otherwise an original transaction id.
    public let subject: String
    /// Where the work continues; `nil` at its beginning.
    public var progress: String?
    /// The number of attempts without an answer.
    public var attempts: Int

    /// How often it was scheduled when it was leased.
    var scheduled: Int64 = 0

    public init(
        _ kind: AppStoreTaskKind, app: String, environment: AppStoreEnvironment, subject: String,
        progress: String? = nil, attempts: Int = 0
    ) {
        self.kind = kind
        self.app = app
        self.environment = environment
        self.subject = subject
        self.progress = progress
        self.attempts = attempts
    }
}

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
