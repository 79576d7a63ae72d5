/// The permissions of a key.
public enum APIKeyScope: String, Sendable, CaseIterable {
    /// Apps: submit purchases.
    case client
    /// The operator's servers: submit purchases; orders, entitlements, balances, the record.
    case backend
    /// Everything.
    case admin
}
