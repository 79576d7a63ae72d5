public import PurchaseVerification

/// The revocation of a transaction, as stated by one signed transaction. The four claims belong together and are merged
/// as one value.
public struct Revocation: Sendable, Hashable {
    /// `revocationDate`.
    public var date: Timestamp
    /// `revocationReason`: 1 for an issue in the app, 0 for any other reason.
    public var reason: Int64?
    /// `revocationType`, such as `REFUND_PRORATED`.
    public var type: ExactText?
    /// `revocationPercentage` in milliunits of the whole quantity, for all refunds of the transaction together: 100,000
    /// is everything. If it is absent, everything is revoked.
    public var percentage: Int64?

    /// Creates a revocation from its claims.
    public init(date: Timestamp, reason: Int64? = nil, type: ExactText? = nil, percentage: Int64? = nil) {
        self.date = date
        self.reason = reason
        self.type = type
        self.percentage = percentage
    }

    /// The type of a revocation that ends a share of a family.
    package static let familyRevoke: ExactText = "FAMILY_REVOKE"

    /// The percentage of a full refund.
    public static let whole: Int64 = 100_000

    /// The withdrawn share of the quantity, in milliunits from 0 to 100,000; everything if it is not stated.
    package var share: Int64 { min(max(0, percentage ?? Self.whole), Self.whole) }
}
