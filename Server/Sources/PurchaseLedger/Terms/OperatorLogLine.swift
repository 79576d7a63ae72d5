public import PurchaseVerification

/// A line of the log of sign-ins and of changes to operators.
public struct OperatorLogLine: Sendable, Equatable {
    public var at: Timestamp
    /// The operator that it is about. It can be a name that nobody has.
    public var name: String
    public var act: Act
    /// Who did it; `nil` for the operator themselves and for commands.
    public var by: String?
    /// From which address; `nil` for commands.
    public var address: String?
    /// How often it happened; more than once only for `refused`.
    public var count: Int64 = 1

    /// What happened.
    public enum Act: String, Sendable, CaseIterable {
        case signedIn = "signed_in"
        case signedOut = "signed_out"
        case wrongPassword = "wrong_password"
        /// Sign-ins under locked or unknown names, from one address in the minute that begins at the time. The name is
        /// the last one.
        case refused
        case added
        case roleChanged = "role_changed"
        case removed
        case linkMade = "link_made"
        case passwordSet = "password_set"
        /// Events of a webhook were sent again, or it was enabled.
        case webhookChanged = "webhook_changed"
    }
}
