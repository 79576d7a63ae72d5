public import PurchaseVerification

/// The state of one product of a subscription at a time (docs/ledger.md, "The state of a subscription").
public struct SubscriptionState: Sendable, Hashable {
    public var name: Name
    /// Why; `nil` for plain access.
    public var reason: NoAccessReason?
    /// When the access of its period ends or ended; `nil` if it has none.
    public var until: Timestamp?
    /// Whether the news of a renewal are only late, by `lapse_tolerance`.
    public var isAssumed = false
    /// The lapse, if the news of a renewal are missing and access may be assumed for some time.
    public var lapse: Lapse?
    /// The first transaction of its period.
    public var transaction: TransactionKey?

    /// The states of the table.
    public enum Name: String, Sendable, CaseIterable {
        case pending
        case withdrawn
        case active
        case unknown
        case upgraded
        case inGrace = "in_grace"
        case billingRetry = "billing_retry"
        case expired
    }

    /// Whether it gives access.
    public var givesAccess: Bool { name == .active || name == .inGrace }

    init(_ name: Name, _ reason: NoAccessReason?, until: Timestamp? = nil, of transaction: TransactionKey?) {
        (self.name, self.reason, self.until, self.transaction) = (name, reason, until, transaction)
    }
}
