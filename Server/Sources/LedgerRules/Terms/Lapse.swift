public import PurchaseVerification

/// The end of a period that is expected to renew, while nothing says whether it did. For a short time afterwards,
/// access may be assumed (docs/ledger.md, "The state of a subscription", row 10).
public struct Lapse: Sendable, Hashable {
    /// The end of the period.
    public var end: Timestamp
    /// The longest time for which access may be assumed, in milliseconds: half of the period.
    public var longest: Int64

    /// A lapse of a period.
    public init(end: Timestamp, longest: Int64) {
        self.end = end
        self.longest = longest
    }
}
