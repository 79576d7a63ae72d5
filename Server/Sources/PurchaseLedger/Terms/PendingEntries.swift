public import PurchaseVerification

/// The entries that are pending for the Merkle log.
public struct PendingEntries: Sendable, Equatable {
    /// The number.
    public var count: Int
    /// The time of the oldest one; `nil` if none is pending.
    public var oldest: Timestamp?
    /// The number of earlier entries that got no place in it: no server with the key wrote them.
    public var refused: Int
}
