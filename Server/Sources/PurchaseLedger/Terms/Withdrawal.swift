public import PurchaseVerification

/// Apple withdrew a transaction: it was refunded, revoked from a family, or cancelled in the words of receipts.
public struct Withdrawal: Sendable, Hashable {
    /// From when on.
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

    /// A withdrawal by its parts.
    public init(date: Timestamp, cause: Cause, units: Int64) {
        self.date = date
        self.cause = cause
        self.units = units
    }
}
