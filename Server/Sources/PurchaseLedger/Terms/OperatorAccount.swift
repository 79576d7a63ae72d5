public import PurchaseVerification

/// A person who may sign in to the console.
public struct OperatorAccount: Sendable, Equatable {
    /// The name, compared byte by byte.
    public var name: String
    public var role: OperatorRole
    public var createdAt: Timestamp
    /// Whether a password was set. Without one nobody can sign in under the name.
    public var hasPassword: Bool
    /// Until when sign-ins are refused, after several wrong passwords.
    public var lockedUntil: Timestamp?
}
