public import PurchaseVerification

/// Apple withdrew a transaction: it was refunded, revoked from a family, or cancelled in the words of receipts.
public struct Withdrawal: Sendable, Hashable {
    /// From when on.
    public var date: Timestamp
    /// Which evidence says so.
    public var cause: Cause
    /// How many of the quantity are withdrawn.
    public var units: Int64

    /// Which evidence says that a transaction is withdrawn.
    public enum Cause: String, Sendable, CaseIterable {
        /// The cancellation date of a receipt. It does not tell a refund from an upgrade.
        case cancelled
        /// The revocation of a signed transaction.
        case revoked
    }

    /// A withdrawal by its parts.
    public init(date: Timestamp, cause: Cause, units: Int64) {
        self.date = date
        self.cause = cause
        self.units = units
    }
}
