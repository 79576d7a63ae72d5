public import PurchaseVerification

/// The statement of one signed renewal info about one subscription.
public struct RenewalStatement: Sendable, Equatable {
    /// The subscription.
    public var key: RenewalKey
    /// When it was signed; 1970 if it has no date, so that it is never newer than other information about a period.
    public var stamp: Timestamp
    /// The content.
    public var info: RenewalInfo
    /// The transaction signed beside it, in one notification; `nil` if there is none.
    public var beside: ExactText?

    /// Creates a statement.
    public init(key: RenewalKey, stamp: Timestamp, info: RenewalInfo, beside: ExactText? = nil) {
        self.key = key
        self.stamp = stamp
        self.info = info
        self.beside = beside
    }

    /// What it says about the end of a period. Statements that say different things are kept beside each other: the end
    /// of a grace period must not change the answer for a time in it.
    package enum Concern: Hashable, Comparable {
        case none
        case retry
        /// A grace period, until its end or, if that is not known, the latest time.
        case grace(until: Timestamp)
    }

    package var concern: Concern {
        let end = info.isGraceEndUnknown ? .latestStorable : info.graceEnd
        return end.map { .grace(until: $0) } ?? (info.isInBillingRetry == true ? .retry : .none)
    }

    /// The facts that a newer statement replaces.
    struct Slot: Hashable, Comparable {
        let beside: ExactText
        let concern: Concern

        static func < (left: Slot, right: Slot) -> Bool {
            left.beside == right.beside ? left.concern < right.concern : left.beside < right.beside
        }
    }

    var slot: Slot { Slot(beside: beside ?? "", concern: concern) }
}
