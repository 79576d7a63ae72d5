/// The state table of docs/ledger.md ("The state of a subscription"), without other renewal info than
/// that of a grace period without its end.
struct WrittenSubscription: Sendable {
    /// In the order of their starts, which are all different.
    private let periods: [WrittenPeriod]

    /// Whether it was signed on day 30 that a grace period runs.
    private let isGraced: Bool

    init(_ periods: [WrittenPeriod], isGraced: Bool) { (self.periods, self.isGraced) = (periods, isGraced) }

    private struct State {
        var reason: String?
        var until: Int
    }

    func access(of customer: Int, to product: Int, on day: Int) -> WrittenAccess {
        var access = WrittenAccess()
        let others = periods.filter { $0.product == product && $0.owner != nil && $0.owner != customer }
        access.isOfAnother = others.contains { $0.start <= day }
        access.isOfAnotherLater = others.contains { day < $0.start }
        guard periods.contains(where: { $0.product == product && $0.owner == customer }) else { return access }
        if let reason = state(product, customer, day).reason {
            access.reasons = [reason]
            return access
        }
        // Access without a gap is shown as one, until its last end.
        access.until = WrittenStatement.changes.first { $0 > day && state(product, customer, $0).reason != nil }
        return access
    }

    /// The state of a product for the owner of some of its periods.
    private func state(_ product: Int, _ owner: Int, _ day: Int) -> State {
        let begun = periods.filter { $0.start <= day }
        guard let latest = begun.last else { return State(reason: "not_started", until: 0) }
        // The periods of its product with no period of another product begun between.
        let run = Array(begun.reversed().prefix { $0.product == latest.product }.reversed())
        let owners = Set(run.filter { day < $0.end }.map(\.owner))
        let counting: [WrittenPeriod]
        if owners.count > 1 {
            counting = owners.compactMap { owner in deciding(run.filter { $0.owner == owner }, day) }
        } else {
            counting = [deciding(run, day)].compactMap(\.self)
        }
        var states: [(period: WrittenPeriod, state: State)] = counting.map { ($0, row(of: $0, day)) }
        // Row 3: an upgrade that was refunded, after which the earlier product's period was signed without the flag.
        for upgrade in counting where upgrade.isRefunded(by: day) {
            let before = begun.filter { $0.start < run[0].start }
            let earlier = before.reversed().prefix { $0.product == before.last?.product }.filter { period in
                period.wasFlagged && day < period.end && period.refundedAt == nil && period.upgradedAt == nil
                    && (period.newestStamp ?? 0) > (upgrade.newestStamp ?? 0)
            }
            if let former = earlier.max(by: { $0.end < $1.end }) {
                states.append((former, State(reason: nil, until: former.end)))
            }
        }
        let own = states.last { $0.period.product == product && $0.period.owner == owner }
        return own?.state ?? rest(product, owner, day, begun)
    }

    /// The period that counts among those of one product (L).
    private func deciding(_ run: [WrittenPeriod], _ day: Int) -> WrittenPeriod? {
        guard let latest = run.last else { return nil }
        let valid = run.filter { period in
            !period.isRefunded(by: day) && !period.isUpgraded(by: day)
                && (period.end >= latest.end || latest.isRefunded(by: day) && period.end > day)
        }
        return valid.max { ($0.end, $0.start) < ($1.end, $1.start) } ?? latest
    }

    private func row(of period: WrittenPeriod, _ day: Int) -> State {
        if period.isRefunded(by: day) { return State(reason: "revoked", until: period.end) }
        if period.isUpgraded(by: day) { return State(reason: "upgraded", until: period.end) }
        if isGraced, period.end == 30, day >= 30 {
            return State(reason: day < 46 ? nil : "billing_retry", until: day < 46 ? 46 : period.end)
        }
        return State(reason: day < period.end ? nil : "news_missing", until: period.end)
    }

    /// The state of a product that no counting period is of.
    private func rest(_ product: Int, _ owner: Int, _ day: Int, _ begun: [WrittenPeriod]) -> State {
        func isOwn(_ period: WrittenPeriod) -> Bool { period.product == product && period.owner == owner }
        let next = periods.first { $0.start > day }
        guard let last = begun.last(where: isOwn), next.map({ !isOwn($0) }) ?? true else {
            return State(reason: "not_started", until: 0)
        }
        if last.isRefunded(by: day) { return State(reason: "revoked", until: last.end) }
        if last.isUpgraded(by: day) { return State(reason: "upgraded", until: last.end) }
        let successor = begun.first { $0.product != product && $0.start > last.start }
        let isCut = successor.map { $0.start < last.end } ?? false
        return State(reason: isCut ? "superseded" : "expired", until: last.end)
    }
}

/// One period of a subscription, by all statements about it.
struct WrittenPeriod: Sendable {
    let transaction: Int
    let product: Int
    let start: Int
    let end: Int
    let owner: Int?
    /// The refund that the newest statement states.
    let refundedAt: Int?
    /// The day since which it is upgraded.
    let upgradedAt: Int?
    let wasFlagged: Bool
    /// nil if only receipts are known.
    let newestStamp: Int?

    init?(_ transaction: Int, product: Int, _ statements: [WrittenStatement], owner: Int?) {
        guard statements != [] else { return nil }
        let newest = statements.filter { !$0.isReceipt }.max { $0.stamp < $1.stamp }
        self.transaction = transaction
        self.product = product
        (start, end) = WrittenStatement.days(of: transaction)
        self.owner = owner
        (refundedAt, newestStamp) = (newest?.refundedAt, newest?.stamp)
        let with = statements.filter(\.isFlagged).map(\.stamp)
        let without = statements.filter { !$0.isFlagged }.map(\.stamp)
        wasFlagged = with != []
        if let newestWith = with.max(), without.max().map({ newestWith >= $0 }) ?? true {
            upgradedAt = with.min()
        } else {
            upgradedAt = nil
        }
    }

    func isRefunded(by day: Int) -> Bool { refundedAt.map { $0 <= day } ?? false }

    func isUpgraded(by day: Int) -> Bool { upgradedAt.map { $0 <= day } ?? false }
}

/// What a customer may use on a day, by one subscription or by several.
public struct WrittenAccess: Sendable, Hashable {
    /// When the access ends, without a gap; nil without access.
    public var until: Int?
    /// Without access: the possible reasons. Of several subscriptions, the one that ended last gives the reason.
    public var reasons: Set<String> = []
    /// Whether another customer owns a period that has begun, which can be a reason, too.
    public var isOfAnother = false
    /// Whether another customer owns a period that begins later. For a former owner it has not started.
    public var isOfAnotherLater = false

    /// Whether the product may be used.
    public var isActive: Bool { until != nil }

    /// The access of two subscriptions together.
    func or(_ other: WrittenAccess) -> WrittenAccess {
        WrittenAccess(
            until: [until, other.until].compactMap(\.self).max(), reasons: reasons.union(other.reasons),
            isOfAnother: isOfAnother || other.isOfAnother,
            isOfAnotherLater: isOfAnotherLater || other.isOfAnotherLater)
    }
}
