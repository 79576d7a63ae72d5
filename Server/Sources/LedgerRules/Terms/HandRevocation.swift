public import PurchaseVerification

/// An operator's revocation of a purchase or of a manual grant. It takes precedence over Apple's data, and ends only
/// when it is lifted.
public struct HandRevocation: Sendable, Hashable {
    /// The subject of the revocation.
    public var target: Target
    /// The time from which it is in force.
    public var from: Timestamp
    /// When it was lifted; `nil` if it is in force.
    public var liftedAt: Timestamp?

    /// The subjects that an operator can revoke.
    public enum Target: Sendable, Hashable {
        /// All transactions of one original transaction. For a subscription these are all of its periods.
        case purchase(OwnershipKey)
        /// A manual grant, by its journal entry.
        case grant(Int64)
    }

    /// Creates a revocation.
    public init(target: Target, from: Timestamp, liftedAt: Timestamp? = nil) {
        self.target = target
        self.from = from
        self.liftedAt = liftedAt
    }

    /// Whether it is in force at a time.
    public func isInForce(at moment: Timestamp) -> Bool { from <= moment && (liftedAt.map { moment < $0 } ?? true) }
}
