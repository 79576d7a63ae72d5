public import PurchaseVerification

/// A withdrawal by Apple: the transaction was refunded, revoked from a family, or, as receipts put it, cancelled.
public struct Withdrawal: Sendable, Hashable {
    /// The time from which it is in force.
    public var date: Timestamp
    /// The evidence of the withdrawal.
    public var cause: Cause
    /// The number of withdrawn units.
    public var units: Int64

    /// The kinds of evidence of a withdrawal.
    public enum Cause: String, Sendable, CaseIterable {
        /// The cancellation date of a receipt. It does not distinguish a refund from an upgrade.
        case cancelled
        /// The revocation of a signed transaction.
        case revoked
    }

    /// Creates a withdrawal.
    public init(date: Timestamp, cause: Cause, units: Int64) {
        self.date = date
        self.cause = cause
        self.units = units
    }
}
