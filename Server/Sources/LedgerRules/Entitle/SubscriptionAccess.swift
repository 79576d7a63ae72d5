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
