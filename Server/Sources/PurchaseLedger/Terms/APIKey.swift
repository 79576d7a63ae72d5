public import PurchaseVerification

/// A key for the HTTP API. Only the SHA-256 of its text is stored.
public struct APIKey: Sendable, Equatable {
    /// Its public name in the record and in logs.
    public var id: String
    /// The app that it belongs to.
    public var app: String
    /// The operator's name for it.
    public var name: String
    public var scopes: Set<APIKeyScope>
    public var createdAt: Timestamp
    public var revokedAt: Timestamp?
    /// When it was last used, to about a minute; only in lists.
    public var usedAt: Timestamp?

    /// Whether the key covers a scope. A backend may do what its app may.
    public func allows(_ scope: APIKeyScope) -> Bool {
        scopes.contains(scope) || scopes.contains(.admin) || scope == .client && scopes.contains(.backend)
    }

    /// Whether it is on the devices of customers, so that one of them must not use up what all have.
    public var isOfDevices: Bool { scopes == [.client] }
}
