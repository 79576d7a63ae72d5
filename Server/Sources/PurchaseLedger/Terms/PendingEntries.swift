public import PurchaseVerification

/// The number of entries that wait for the Merkle log.
public struct PendingEntries: Sendable, Equatable {
    /// The number.
    public var count: Int
    /// The time of the one that waits longest; `nil` if none waits.
    public var oldest: Timestamp?
}
