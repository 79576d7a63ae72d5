public import PurchaseVerification

/// The revocation of a transaction, as one signed transaction states it. The four claims belong together and are merged
/// as one value.
public struct Revocation: Sendable, Hashable {
    /// `revocationDate`.
    public var date: Timestamp
    /// `revocationReason`: 1 for an issue in the app, 0 for any other reason.
    public var reason: Int64?
    /// `revocationType`, such as `REFUND_PRORATED`.
    public var type: ExactText?
    /// `revocationPercentage` in milliunits of the whole quantity, all refunds of the transaction together: 100,000 is
    /// everything. Absent means everything.
    public var percentage: Int64?

    /// A revocation by its claims.
    public init(date: Timestamp, reason: Int64? = nil, type: ExactText? = nil, percentage: Int64? = nil) {
        self.date = date
        self.reason = reason
        self.type = type
        self.percentage = percentage
    }

    /// The percentage of a full refund.
    public static let whole: Int64 = 100_000
}
