public import PurchaseVerification

/// The position at which a page of orders continues.
public struct OrderCursor: Sendable, Hashable {
    /// When the last order of the previous page expires.
    public var expiresAt: Timestamp
    public var key: Int64

    /// Creates a cursor.
    public init(expiresAt: Timestamp, key: Int64) {
        self.expiresAt = expiresAt
        self.key = key
    }
}
