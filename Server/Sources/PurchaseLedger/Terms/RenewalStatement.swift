public import PurchaseVerification

/// The statement of one signed renewal info about one subscription.
public struct RenewalStatement: Sendable, Equatable {
    /// The subscription.
    public var key: RenewalKey
    /// When it was signed; 1970 if it has no date, so that it is never newer than other information about a period.
    public var stamp: Timestamp
    /// The content.
    public var info: RenewalInfo

    /// Creates a statement.
    public init(key: RenewalKey, stamp: Timestamp, info: RenewalInfo) {
        self.key = key
        self.stamp = stamp
        self.info = info
    }
}
