import PurchaseVerification

/// The timelines of one subscription: the state table, read at each time at which a state can change.
public enum SubscriptionAccess {
    /// The access that one subscription gives, by product and owner.
    ///
    /// - Parameters:
    ///   - periods: every period of one original, with any owner.
    ///   - renewal: the renewal facts of the original.
    ///   - revocations: the manual revocations of the original.
    ///   - status: the newest signed status.
    public static func grounds(
        of periods: [OwnedPurchase], renewal: ObservedRenewal?, revocations: [HandRevocation] = [],
        status: SignedStatus? = nil
    ) -> [AccessGround] {
        guard !periods.isEmpty else { return [] }
        let table = SubscriptionTable(periods, renewal: renewal, status: status)
        var states = [SubscriptionState?](repeating: nil, count: table.subjects.count)
        var steps = [[AccessTimeline.Step]](repeating: [], count: table.subjects.count)
        for moment in table.changes {
            let lead = table.lead(at: moment)
            table.read(.at(moment), into: &states)
            for place in states.indices where table.subjects[place].owner != nil {
                // Before its first step, a product has not started.
                guard let state = states[place], state.reason != .notStarted || !steps[place].isEmpty else { continue }
                var step = AccessTimeline.Step(
                    at: moment, lead: lead, reason: state.reason, transaction: state.transaction)
                step.lapse = state.lapse
                steps[place].append(step)
            }
        }
        var parts: [SubscriptionTable.Subject: [AccessTimeline.Step]] = [:]
        for (subject, steps) in zip(table.subjects, steps) where !steps.isEmpty {
            parts[subject] = steps.revoked(by: revocations)
        }
        for note in notes(of: table) { parts[note.subject, default: []].add(note, in: table) }
        return parts.compactMap { subject, steps in
            guard let owner = subject.owner,
                let period = table.periods.first(where: { $0.productID == subject.productID })?.purchase
            else { return nil }
            return AccessGround(
                customer: owner, productID: subject.productID, environment: period.ownership.original.environment,
                kind: period.kind, source: .purchase(period.ownership), timeline: AccessTimeline(steps))
        }
    }

    /// A customer who owned a period before its owner, or would own it without a token.
    fileprivate struct Note {
        let subject: SubscriptionTable.Subject
        let period: SubscriptionPeriod
    }

    /// One for each customer and product, however many periods there are.
    private static func notes(of table: SubscriptionTable) -> [Note] {
        var noted: Set<SubscriptionTable.Subject> = []
        return table.periods.flatMap { period in
            period.purchase.others.compactMap { other in
                let subject = SubscriptionTable.Subject(productID: period.productID, owner: other)
                return noted.insert(subject).inserted ? Note(subject: subject, period: period) : nil
            }
        }
    }
}

extension [AccessTimeline.Step] {
    /// Explains to another customer, from the start of a period on and until one of their own begins, why they have no
    /// access.
    fileprivate mutating func add(_ note: SubscriptionAccess.Note, in table: SubscriptionTable) {
        let start = note.period.start
        let next = table.periods.first {
            $0.start > start && $0.owner == note.subject.owner && $0.productID == note.subject.productID
        }
        for place in indices where !self[place].givesAccess && self[place].at >= start {
            if next.map({ self[place].at < $0.start }) ?? true {
                (self[place].reason, self[place].lapse) = (.ownedByAnother, nil)
            }
        }
        guard first.map({ start < $0.at }) ?? true else { return }
        let step = AccessTimeline.Step(
            at: start, lead: note.period.lead, reason: .ownedByAnother,
            transaction: note.period.purchase.transaction)
        insert(step, at: 0)
    }

    /// These steps, in their order, without access while an operator's revocation is in force.
    func revoked(by revocations: [HandRevocation]) -> [AccessTimeline.Step] {
        var steps = self
        for revocation in revocations {
            guard let first = steps.first,
                let last = steps.last(where: { $0.at <= Swift.max(first.at, revocation.from) })
            else { continue }
            let start = Swift.max(first.at, revocation.from)
            // A revocation that was lifted at the same time has no effect.
            if let liftedAt = revocation.liftedAt, liftedAt <= start { continue }
            let begin = AccessTimeline.Step(
                at: start, lead: start == first.at ? first.lead : 0, reason: .revokedByHand,
                transaction: last.transaction)
            var after: [AccessTimeline.Step] = []
            if let liftedAt = revocation.liftedAt, var resumed = steps.last(where: { $0.at <= liftedAt }) {
                if resumed.at < liftedAt { (resumed.at, resumed.lead) = (liftedAt, 0) }
                after = [resumed] + steps.filter { $0.at > liftedAt }
            }
            steps = steps.filter { $0.at < start } + [begin] + after
        }
        return steps
    }
}

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

/// Which renewal info is about which period. It is computed when the table is read, and never stored: a period that
/// becomes known later changes it.
struct SubscriptionRenewals: Sendable {
    /// Periods of one product with equal ends share their renewal info.
    private struct Subject: Hashable {
        let productID: ExactText
        let end: Timestamp?
    }

    /// The statements about each period, the newest last.
    private let statements: [Subject: [RenewalStatement]]

    /// - Parameter periods: the periods of the subscription, in their order.
    init(_ renewal: ObservedRenewal?, of periods: [SubscriptionPeriod]) {
        guard let renewal, !periods.isEmpty else {
            statements = [:]
            return
        }
        let byEnd = periods.filter { $0.end != nil }.sorted { $0.endsBefore($1) }
        var byTransaction: [ExactText: SubscriptionPeriod] = [:]
        for period in periods {
            for transaction in period.purchase.transactions { byTransaction[transaction.key.transactionID] = period }
        }
        var statements: [Subject: [RenewalStatement]] = [:]
        for statement in renewal.statements {
            let beside = statement.beside.flatMap { byTransaction[$0] }
            let period =
                statement.concern != .none
                ? Self.ended(by: statement.stamp, byEnd, periods) : Self.begun(by: statement.stamp, periods, beside)
            guard let period else { continue }
            let subject = Subject(productID: period.productID, end: period.end)
            statements[subject, default: []].append(statement)
        }
        self.statements = statements.mapValues { statements in
            statements.sorted { $0 != $1 && RenewalStatement.newer($0, $1) == $1 }
        }
    }

    /// The renewal info about a period.
    func all(about period: SubscriptionPeriod) -> [RenewalStatement] {
        statements[Subject(productID: period.productID, end: period.end)] ?? []
    }

    /// The renewal info about a period that counts at a time: the newest that was signed by then. Until one of them
    /// says that the payment failed, the first that says so counts: it is signed when the payment fails, after the end
    /// of the period.
    func current(about period: SubscriptionPeriod, at moment: Timestamp) -> RenewalStatement? {
        let all = all(about: period)
        let signed = all.last { $0.stamp <= moment }
        let failed = all.first { $0.concern != .none }
        guard let failed, failed.stamp > moment else { return signed ?? all.first }
        return failed
    }

    /// The period that ended last, or is about to end, when something was signed. A period that another product had
    /// replaced ends no subscription, although its own end can be later than that of its successor.
    ///
    /// - Parameter periods: in their order.
    private static func ended(
        by stamp: Timestamp, _ byEnd: [SubscriptionPeriod], _ periods: [SubscriptionPeriod]
    ) -> SubscriptionPeriod? {
        let latest = stamp.adding(milliseconds: 86_400_000, times: 1)
        let count = byEnd.leadingCount { $0.end.map { $0 <= latest } ?? true }
        func hasEnded(_ period: SubscriptionPeriod) -> Bool {
            period.end.map { $0 <= stamp.adding(milliseconds: period.allowance, times: 1) } ?? false
        }
        return byEnd[..<count].last { hasEnded($0) && !isReplaced($0, by: stamp, periods) }
            ?? byEnd[..<count].last(where: hasEnded)
    }

    /// Whether a period of another product had begun before the end of a period, and was not withdrawn, when something
    /// was signed.
    private static func isReplaced(
        _ period: SubscriptionPeriod, by stamp: Timestamp, _ periods: [SubscriptionPeriod]
    ) -> Bool {
        guard let end = period.end, period.start < end else { return false }
        let first = periods.leadingCount { $0.start <= period.start }
        let last = periods.leadingCount { $0.start < end && $0.start <= stamp }
        return first < last
            && periods[first..<last].contains {
                $0.productID != period.productID && !$0.isWithdrawn(by: stamp)
            }
    }

    /// The period that had begun last when something was signed, or the one signed beside it that begins soon.
    private static func begun(
        by stamp: Timestamp, _ periods: [SubscriptionPeriod], _ beside: SubscriptionPeriod?
    ) -> SubscriptionPeriod? {
        if let beside, beside.start > stamp,
            beside.start <= stamp.adding(milliseconds: beside.allowance, times: 1)
        {
            return beside
        }
        let count = periods.leadingCount { $0.start <= stamp }
        return count > 0 ? periods[count - 1] : nil
    }
}

/// What is known about a subscription at a time, by the table that also decides entitlements.
public struct SubscriptionStanding: Sendable {
    /// The period that counts.
    public let purchase: OwnedPurchase
    /// The state of that period.
    public let state: SubscriptionState
    /// The signed renewal info about it.
    public let renewal: RenewalStatement?
    /// Whether signed news are about that period, and it has not ended since without news.
    public let isConfirmed: Bool
}
