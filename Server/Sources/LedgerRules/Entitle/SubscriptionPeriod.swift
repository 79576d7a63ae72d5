import PurchaseVerification

/// A period as the state table reads it.
final class SubscriptionPeriod: Sendable {
    let purchase: OwnedPurchase
    /// Identifies the period among those of its subscription.
    let id: ExactText
    let start: Timestamp
    let end: Timestamp?
    let productID: ExactText
    let owner: CustomerNumber?
    let withdrawal: Withdrawal?
    let upgradedAt: Timestamp?
    /// Whether anything ever stated that it was upgraded.
    let wasUpgraded: Bool
    /// When the newest signed statement of any copy was signed.
    let newestStamp: Timestamp?
    /// When the newest signed statement of any copy that is not revoked was signed.
    let cleanStamp: Timestamp?

    /// The seats that the transaction has left; `nil` if it is not sold by the seat.
    let seats: Int64?
    /// The first end that was stated, before any extension.
    let firstEnd: Timestamp?

    /// Periods without a product give nothing, and end nothing.
    init?(_ purchase: OwnedPurchase) {
        guard let productID = purchase.productID, let transaction = purchase.transaction else { return nil }
        self.purchase = purchase
        id = transaction.transactionID
        (start, end) = (purchase.start, purchase.end)
        (self.productID, owner) = (productID, purchase.owner)
        (withdrawal, upgradedAt) = (purchase.withdrawal, purchase.upgradedAt)
        wasUpgraded = purchase.transactions.contains(where: \.wasUpgraded)
        newestStamp = purchase.transactions.lazy.compactMap { $0.newestStamp }.max()
        cleanStamp = purchase.transactions.lazy.compactMap { $0.cleanStamp }.max()
        seats = purchase.transactions.first?.seats?.remaining
        firstEnd = purchase.transactions.lazy.compactMap { $0.firstEnd }.min()
    }

    /// Half of the period, and at most a day: how far a statement about it may be from its dates. The App Store tries
    /// to collect the next price from a day before the end.
    var allowance: Int64 { min(Self.day, length.map { $0 / 2 } ?? Self.day) }

    /// How much earlier it begins for a question about now: five minutes, or a tenth of a shorter period.
    var lead: Int64 { min(AccessTimeline.startTolerance, length.map { $0 / 10 } ?? AccessTimeline.startTolerance) }

    /// Its length in milliseconds.
    var length: Int64? {
        end.map { end in
            max(0, end.millisecondsSince1970.saturatingSum(-start.millisecondsSince1970))
        }
    }

    /// The latest end of a grace period after it: 16 days after its end, 6 for periods of a week (Apple, "Enable
    /// billing grace period for auto-renewable subscriptions").
    var latestGraceEnd: Timestamp? {
        let days: Int64 = length.map { $0 <= 7 * Self.day } ?? false ? 6 : 16
        return end?.adding(milliseconds: days * Self.day, times: 1)
    }

    private static let day: Int64 = 86_400_000

    func hasBegun(_ question: AccessQuestion) -> Bool {
        let moment = question.moment
        return start <= moment
            || question.isAboutNow && start <= moment.adding(milliseconds: lead, times: 1)
    }

    func isWithdrawn(by moment: Timestamp) -> Bool { withdrawal.map { $0.date <= moment } ?? false }

    func isUpgraded(by moment: Timestamp) -> Bool { upgradedAt.map { $0 <= moment } ?? false }

    /// Whether nothing ended it before its end.
    func isClean(by moment: Timestamp) -> Bool { !isWithdrawn(by: moment) && !isUpgraded(by: moment) }

    func covers(_ moment: Timestamp) -> Bool { end.map { moment < $0 } ?? false }

    /// The order of the periods: by start, then by end, then by id.
    static func isBefore(_ left: SubscriptionPeriod, _ right: SubscriptionPeriod) -> Bool {
        if left.start != right.start { return left.start < right.start }
        if left.end != right.end { return (left.end ?? .beginning) < (right.end ?? .beginning) }
        return ExactText.isNumericallyBefore(left.id, right.id)
    }

    /// Whether a period of the same product ends earlier than another; of equal ends, the one that begins earlier is
    /// first.
    func endsBefore(_ other: SubscriptionPeriod) -> Bool {
        if end != other.end { return (end ?? .beginning) < (other.end ?? .beginning) }
        return Self.isBefore(self, other)
    }
}

extension Timestamp {
    /// Earlier than every time of evidence.
    fileprivate static let beginning = Timestamp(millisecondsSince1970: .min)
}
