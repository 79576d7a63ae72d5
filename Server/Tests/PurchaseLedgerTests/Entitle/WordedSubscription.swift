import PurchaseLedger
import PurchaseVerification

/// The state table of docs/ledger.md, read word by word and as slowly as it is written: whether a subscription gives
/// access. It knows the periods only by what they state, and calls no rule.
struct WordedSubscription {
    private struct Period {
        let product: ExactText
        let owner: CustomerNumber?
        let start: Timestamp
        let end: Timestamp
        let id: Int
        let withdrawal: Withdrawal?
        let upgradedAt: Timestamp?
        let wasUpgraded: Bool
        let newestStamp: Timestamp?

        func isClean(_ now: Timestamp) -> Bool {
            !(withdrawal.map { $0.date <= now } ?? false) && !(upgradedAt.map { $0 <= now } ?? false)
        }
        var order: (Timestamp, Timestamp, Int) { (start, end, id) }
        var byEnd: (Timestamp, Timestamp, Int) { (end, start, id) }
        var allowance: Int64 {
            min(86_400_000, (end.millisecondsSince1970 - start.millisecondsSince1970) / 2)
        }
    }

    private let periods: [Period]
    private let renewals: [RenewalStatement]

    init(_ purchases: [OwnedPurchase], in story: PurchaseStory) {
        periods = purchases.compactMap { purchase in
            guard let product = purchase.productID, let end = purchase.end else { return nil }
            let keys = purchase.transactions.map(\.key)
            let signed = story.statements.filter { keys.contains($0.key) && $0.source == .signedData }
            return Period(
                product: product, owner: purchase.owner, start: purchase.start, end: end,
                id: Int(purchase.transaction?.transactionID.string ?? "") ?? 0, withdrawal: purchase.withdrawal,
                upgradedAt: purchase.upgradedAt, wasUpgraded: signed.contains(where: \.isUpgraded),
                newestStamp: signed.map(\.stamp).max())
        }.sorted { $0.order < $1.order }
        let key = purchases[0].transactions[0].renewal
        renewals = story.renewalFacts[key]?.statements ?? []
    }

    func gives(_ product: ExactText, to customer: CustomerNumber, at now: Timestamp) -> Bool {
        let begun = periods.filter { $0.start <= now }
        guard let latest = begun.last else { return false }
        var run: [Period] = []
        for period in begun.reversed() {
            guard period.product == latest.product else { break }
            run.append(period)
        }
        let covering = Set(run.filter { now < $0.end }.map(\.owner))
        if covering.count > 1 {
            return covering.contains(customer)
                && gives(product, to: customer, from: run.filter { $0.owner == customer }, begun, now)
        }
        return gives(product, to: customer, from: run, begun, now)
    }

    /// - Parameter run: the periods of one product that nothing interrupted, the latest first.
    private func gives(
        _ product: ExactText, to customer: CustomerNumber, from run: [Period], _ begun: [Period], _ now: Timestamp
    ) -> Bool {
        let latest = run[0]
        let isWithdrawn = latest.withdrawal.map { $0.date <= now } ?? false
        let better = run.filter { period in
            period.isClean(now) && (period.end >= latest.end || isWithdrawn && period.end > now)
        }
        let current = better.max { $0.byEnd < $1.byEnd } ?? latest
        let isRestored = current.withdrawal.map { withdrawal in
            guard withdrawal.date <= now, withdrawal.cause == .cancelled || !withdrawal.isFamilyRevoke else {
                return false
            }
            let before = begun.prefix { $0.order < run[run.count - 1].order }
            guard let last = before.last(where: { $0.product != current.product }) else { return false }
            let former = before.reversed().drop { $0.product == current.product }.prefix { $0.product == last.product }
            let left = former.filter { period in
                period.wasUpgraded && now < period.end && period.withdrawal == nil && period.upgradedAt == nil
                    && period.newestStamp.map { $0 > withdrawal.stamp } ?? false
            }
            let restored = left.max { $0.byEnd < $1.byEnd }
            return restored.map { $0.product == product && $0.owner == customer } ?? false
        }
        if isRestored == true { return true }
        guard current.product == product, current.owner == customer, current.isClean(now) else { return false }
        if now < current.end { return true }
        let about = renewals.filter { period(of: $0).map { $0.product == product && $0.end == current.end } ?? false }
        let ordered = about.sorted { $0.stamp < $1.stamp }
        let signed = ordered.filter { $0.stamp <= now }
        let failed = ordered.filter(Self.hasFailed)
        let hasFailed = failed.contains { $0.stamp <= now }
        guard let counting = hasFailed ? signed.last : failed.first ?? signed.last else { return false }
        if let grace = counting.info.graceEnd { return now < grace }
        guard counting.info.isGraceEndUnknown else { return false }
        let (length, day) = (current.end.millisecondsSince1970 - current.start.millisecondsSince1970, Int64(86_400_000))
        let days: Int64 = length <= 7 * day ? 6 : 16
        return now.millisecondsSince1970 < current.end.millisecondsSince1970 + days * day
    }

    private static func hasFailed(_ renewal: RenewalStatement) -> Bool {
        renewal.info.graceEnd != nil || renewal.info.isGraceEndUnknown || renewal.info.isInBillingRetry == true
    }

    private func period(of renewal: RenewalStatement) -> Period? {
        func isWithin(_ time: Timestamp, of period: Period) -> Bool {
            time.millisecondsSince1970 <= renewal.stamp.millisecondsSince1970 + period.allowance
        }
        if Self.hasFailed(renewal) {
            let ended = periods.filter { isWithin($0.end, of: $0) }
            let last = ended.filter { period in
                !periods.contains { later in
                    later.product != period.product && later.start > period.start && later.start < period.end
                        && later.start <= renewal.stamp
                        && !(later.withdrawal.map { $0.date <= renewal.stamp } ?? false)
                }
            }
            return (last.isEmpty ? ended : last).max { $0.byEnd < $1.byEnd }
        }
        let beside = periods.first { "\($0.id)" == renewal.beside?.string && $0.start > renewal.stamp }
        if let beside, isWithin(beside.start, of: beside) { return beside }
        return periods.last { $0.start <= renewal.stamp }
    }
}
