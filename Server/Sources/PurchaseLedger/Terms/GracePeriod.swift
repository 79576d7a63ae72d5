public import PurchaseVerification

/// A grace period that renewal info stated: access continues while Apple tries to collect the price.
public struct GracePeriod: Sendable, Hashable {
    /// When it ends.
    public var end: Timestamp
    /// When it was first signed.
    public var firstStamp: Timestamp
    /// When it was last signed. Newer renewal info without it ended it early.
    public var lastStamp: Timestamp

    /// Creates a grace period.
    public init(end: Timestamp, firstStamp: Timestamp, lastStamp: Timestamp) {
        self.end = end
        self.firstStamp = firstStamp
        self.lastStamp = lastStamp
    }
}
