public import PurchaseVerification

/// A withdrawal by Apple: the transaction was refunded, revoked from a family, or, as receipts put it, cancelled.
public struct Withdrawal: Sendable, Hashable {
    /// The time from which it is in force.
    public var date: Timestamp
    /// The evidence of the withdrawal.
    public var cause: Cause
    /// The number of withdrawn units.
    public var units: Int64
    /// When it was signed; for the cancellation of a receipt its date.
    public var stamp: Timestamp
    /// Whether it only ended a share of a family.
    public var isFamilyRevoke: Bool
    /// Apple's reason of a revocation (`revocationReason`): 1 for an issue in the app, 0 for any other; `nil` if none
    /// is signed.
    public var appStoreReason: Int64?

    /// The kinds of evidence of a withdrawal.
    public enum Cause: String, Sendable, CaseIterable {
        /// The cancellation date of a receipt. It does not distinguish a refund from an upgrade.
        case cancelled
        /// The revocation of a signed transaction.
        case revoked
    }

    /// Creates a withdrawal, signed at its date.
    public init(date: Timestamp, cause: Cause, units: Int64, stamp: Timestamp? = nil, isFamilyRevoke: Bool = false) {
        self.date = date
        self.cause = cause
        self.units = units
        self.stamp = stamp ?? date
        self.isFamilyRevoke = isFamilyRevoke
    }

    /// Why there is no access after it.
    package var reason: NoAccessReason {
        switch cause {
        case .cancelled: .cancelled
        case .revoked: isFamilyRevoke ? .familyRevoked : .revoked
        }
    }
}
