import PurchaseVerification

/// The rule for auto-renewable subscriptions (docs/ledger.md, "Entitle").
public enum SubscriptionAccess {
    /// The access that one subscription gives.
    ///
    /// - Parameters:
    ///   - periods: every period of one original, with any owner, in the order of `PurchaseGrouping`.
    ///   - renewal: the renewal facts of the original.
    ///   - revocations: the manual revocations of the original.
    public static func spans(
        of periods: [OwnedPurchase], renewal: ObservedRenewal?, revocations: [HandRevocation] = []
    ) -> [AccessSpan] {
        joined(parts(of: periods, renewal: renewal, revocations: revocations), of: periods)
    }

    /// The joined access of periods, from the access of each.
    static func joined(_ parts: [AccessSpan], of periods: [OwnedPurchase]) -> [AccessSpan] {
        let outlived = outlived(periods)
        return SpanList.joined(
            outlived.isEmpty ? parts : parts.filter { $0.transaction.map { !outlived.contains($0) } ?? true })
    }

    /// The withdrawn periods within a valid one of the same product and owner. They change no access and no reason.
    private static func outlived(_ periods: [OwnedPurchase]) -> Set<TransactionKey> {
        var outlived: Set<TransactionKey> = []
        // The valid period with the latest end so far, of each product and owner.
        var latest: [Holding: Timestamp] = [:]
        for period in periods {
            guard let end = period.end else { continue }
            let holding = Holding(product: period.productID, owner: period.owner)
            if period.withdrawal == nil, period.upgradedAt == nil {
                latest[holding] = max(latest[holding] ?? end, end)
            } else if period.withdrawal != nil, let valid = latest[holding], valid >= end, let key = period.transaction
            {
                outlived.insert(key)
            }
        }
        return outlived
    }

    private struct Holding: Hashable {
        let product: ExactText?
        let owner: CustomerNumber?
    }

    /// The access of each single period, and why it ends.
    public static func parts(
        of periods: [OwnedPurchase], renewal: ObservedRenewal?, revocations: [HandRevocation] = []
    ) -> [AccessSpan] {
        var list = SpanList()
        let graceEnds = graceEnds(of: periods, renewal)
        let successors = startsOfOtherProducts(periods)
        for (place, period) in periods.enumerated() {
            guard let paidEnd = period.end else {
                var reason = NoAccessReason.periodUnknown
                if period.upgradedAt != nil { reason = .upgraded }
                if let withdrawal = period.withdrawal {
                    reason = withdrawal.cause == .cancelled ? .cancelled : .revoked
                }
                list.add(period, from: period.start, until: period.start, endReason: reason)
                continue
            }
            let isLast = place == periods.count - 1
            var stop = Stop(paidEnd, isLast && period.isInBillingRetry(renewal) ? .billingRetry : .expired)
            if let graceEnd = graceEnds[place], graceEnd > stop.date { stop.date = graceEnd }
            if let upgradedAt = period.upgradedAt {
                stop.cut(isLast ? upgradedAt : periods[place + 1].start, .upgraded)
            }
            if let successor = successors[place] { stop.cut(successor, .superseded) }
            if let withdrawal = period.withdrawal, withdrawal.date <= stop.date {
                stop = Stop(withdrawal.date, withdrawal.cause == .cancelled ? .cancelled : .revoked)
            }
            list.add(
                period, from: period.start, until: max(period.start, stop.date),
                endReason: stop.reason, revocations: revocations)
        }
        return list.spans
    }

    /// When a period ends, and why.
    private struct Stop {
        var date: Timestamp
        var reason: NoAccessReason

        init(_ date: Timestamp, _ reason: NoAccessReason) { (self.date, self.reason) = (date, reason) }

        mutating func cut(_ date: Timestamp, _ reason: NoAccessReason) {
            if date < self.date { (self.date, self.reason) = (date, reason) }
        }
    }

    /// For each period, the start of the next period of another product, withdrawn or not.
    private static func startsOfOtherProducts(_ periods: [OwnedPurchase]) -> [Timestamp?] {
        var starts: [Timestamp?] = Array(repeating: nil, count: periods.count)
        for place in periods.indices.dropLast().reversed() {
            let next = periods[place + 1]
            starts[place] = next.productID == periods[place].productID ? starts[place + 1] : next.start
        }
        return starts
    }

    /// The App Store tries to collect the next price from 24 hours before the end of a period.
    private static let earliestAttempt: Int64 = 86_400_000

    /// The end of each grace period, by the index of the period that it extends.
    ///
    /// A grace period extends the period that had ended last, or was about to end, when the grace period was first signed; a paid
    /// period has no grace period yet. It ends early when the next period begins, or when newer renewal info without it was
    /// signed.
    private static func graceEnds(of periods: [OwnedPurchase], _ renewal: ObservedRenewal?) -> [Int: Timestamp] {
        var ends: [Int: Timestamp] = [:]
        for grace in renewal?.gracePeriods ?? [] {
            let latest = grace.firstStamp.adding(milliseconds: earliestAttempt, times: 1)
            guard let place = periods.lastIndex(where: { $0.end.map { $0 <= latest } ?? false }) else { continue }
            var end = grace.end
            if let renewal, renewal.info.graceEnd != grace.end { end = min(end, renewal.stamp) }
            if place + 1 < periods.count { end = min(end, periods[place + 1].start) }
            ends[place] = max(ends[place] ?? end, end)
        }
        return ends
    }
}

extension OwnedPurchase {
    /// Whether Apple is still trying to collect the price of the period after this one.
    fileprivate func isInBillingRetry(_ renewal: ObservedRenewal?) -> Bool {
        guard let renewal else { return false }
        return renewal.info.isInBillingRetry == true && renewal.stamp >= start
    }
}
