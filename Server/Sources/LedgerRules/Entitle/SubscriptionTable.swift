import PurchaseVerification

/// The state table of one subscription (docs/ledger.md, "The state of a subscription"): which period counts at a time,
/// and what it gives.
public struct SubscriptionTable: Sendable {
    /// The periods, in their order.
    let periods: [SubscriptionPeriod]
    let renewals: SubscriptionRenewals
    let status: SignedStatus?
    /// The products and owners of the periods.
    let subjects: [Subject]
    /// For each period, the place of its product and owner.
    private let subjectPlaces: [Int]
    private let hasOneOwner: Bool
    /// For each period, the first of the periods up to it that are all of its product.
    private let runStarts: [Int]
    /// For each period, the latest end among those from the start of its run up to it.
    private let runEnds: [Timestamp?]

    /// The table of a subscription.
    ///
    /// - Parameters:
    ///   - periods: every period of one `OwnershipKey`, with any owner, in any order.
    ///   - renewal: the renewal facts of the original.
    ///   - status: the newest signed status.
    public init(_ periods: [OwnedPurchase], renewal: ObservedRenewal?, status: SignedStatus? = nil) {
        let periods = periods.compactMap(SubscriptionPeriod.init).sortedUnlessInOrder(by: SubscriptionPeriod.isBefore)
        var (starts, ends): ([Int], [Timestamp?]) = ([], [])
        var (places, known): ([Int], [Subject: Int]) = ([], [:])
        for (place, period) in periods.enumerated() {
            if place > 0, periods[place - 1].productID == period.productID {
                starts.append(starts[place - 1])
                ends.append(ends[place - 1].map { max($0, period.end ?? $0) } ?? period.end)
            } else {
                starts.append(place)
                ends.append(period.end)
            }
            if place > starts[place], periods[place - 1].owner == period.owner {
                places.append(places[place - 1])
            } else {
                let subject = Subject(productID: period.productID, owner: period.owner)
                places.append(known[subject] ?? known.count)
                known[subject] = places[place]
            }
        }
        (self.periods, runStarts, runEnds, subjectPlaces) = (periods, starts, ends, places)
        subjects = known.sorted { $0.value < $1.value }.map(\.key)
        hasOneOwner = Set(subjects.map(\.owner)).count < 2
        renewals = SubscriptionRenewals(renewal, of: periods)
        self.status = status
    }

    /// The product of a subscription, for the customer who owns its periods.
    public struct Subject: Sendable, Hashable {
        public let productID: ExactText
        /// `nil` for periods that are held.
        public let owner: CustomerNumber?

        package init(productID: ExactText, owner: CustomerNumber?) {
            (self.productID, self.owner) = (productID, owner)
        }
    }

    /// The state of every product and owner.
    ///
    /// - Parameter tolerance: how long access goes on after the end of a period while the news of its renewal are late,
    ///   in milliseconds. It is applied at reading, and never stored.
    public func states(_ question: AccessQuestion, tolerance: Int64 = 0) -> [Subject: SubscriptionState] {
        var states = [SubscriptionState?](repeating: nil, count: subjects.count)
        read(question, tolerance: tolerance, into: &states)
        return Dictionary(uniqueKeysWithValues: zip(subjects, states.compactMap(\.self)))
    }

    /// Replaces the states by those at a time, in the order of `subjects`.
    func read(_ question: AccessQuestion, tolerance: Int64 = 0, into states: inout [SubscriptionState?]) {
        for place in states.indices { states[place] = nil }
        for place in current(question) {
            states[subjectPlaces[place]] = state(of: place, question.moment, tolerance)
            guard let place = former(of: place, question) else { continue }
            let former = periods[place]
            states[subjectPlaces[place]] = SubscriptionState(
                .active, nil, until: former.end, of: former.purchase.transaction)
        }
        for place in states.indices where states[place] == nil {
            states[place] = rest(of: subjects[place], question)
        }
    }

    /// The signed renewal info (R in docs/ledger.md) about the period that counts, if that is of this product and
    /// owner.
    public func renewal(of subject: Subject, _ question: AccessQuestion) -> RenewalStatement? {
        counting(for: subject, question)?.renewal
    }

    /// The period that counts for a product and owner, with the signed renewal info about it.
    package func counting(
        for subject: Subject, _ question: AccessQuestion
    ) -> (purchase: OwnedPurchase, renewal: RenewalStatement?)? {
        let period = current(question).lazy.map { periods[$0] }.first {
            $0.productID == subject.productID && $0.owner == subject.owner
        }
        return period.map { ($0.purchase, renewals.current(about: $0, at: question.moment)) }
    }

    /// The periods that count and that nothing but the signed status withdraws.
    package func withdrawnByStatus(_ question: AccessQuestion) -> [TransactionKey] {
        guard let status, status.isRevoked else { return [] }
        return current(question).map { periods[$0] }.filter { period in
            !period.isWithdrawn(by: question.moment) && period.purchase.refusal == nil
                && isRevoked(period, by: status, question.moment)
        }.compactMap(\.purchase.transaction)
    }

    /// What is known at a time about the period that counts, whoever owns it; `nil` before the first one.
    public func standing(_ question: AccessQuestion) -> SubscriptionStanding? {
        guard let place = current(question).last else { return nil }
        let (period, moment) = (periods[place], question.moment)
        let state = state(of: place, moment, 0)
        let renewal = renewals.current(about: period, at: moment)
        let told = status.map { $0.stamp > period.start } ?? false
        let toldOfEnd = status.flatMap { status in period.end.map { status.stamp >= $0 } } ?? false
        let isOver = period.end.map { moment >= $0 } ?? false
        let renewalOfEnd = renewal.map { renewal in
            renewal.info.expirationIntent != nil || period.end.map { renewal.stamp >= $0 } ?? true
        }
        // Without news after its end, nobody knows whether it was renewed: also a renewal that was turned off can be
        // turned on again.
        let endedUntold = isOver && state.name == .expired && !(renewalOfEnd ?? false) && !toldOfEnd
        let isSilent = state.name == .unknown || state.reason == .newsMissing && !toldOfEnd || endedUntold
        return SubscriptionStanding(
            purchase: period.purchase, state: state, renewal: renewal,
            isConfirmed: (renewal != nil || told) && !isSilent)
    }

    /// The signed renewal info about the period of a transaction.
    package func renewal(of transaction: TransactionKey, at moment: Timestamp) -> RenewalStatement? {
        let period = periods.first { $0.purchase.transactions.contains { $0.key == transaction } }
        return period.flatMap { renewals.current(about: $0, at: moment) }
    }

    // MARK: The period that counts

    /// The period that counts (L in docs/ledger.md). Where periods of its product that cover the time have several
    /// owners, the one of each owner.
    private func current(_ question: AccessQuestion) -> [Int] {
        guard let latest = latest(question) else { return [] }
        guard !hasOneOwner else { return [counting(from: latest, question) { _ in true }] }
        let run = runStarts[latest]
        var owners: Set<CustomerNumber?> = []
        for place in (run...latest).reversed() {
            guard let end = runEnds[place], question.moment < end else { break }
            if periods[place].hasBegun(question), periods[place].covers(question.moment) {
                owners.insert(periods[place].owner)
            }
        }
        guard owners.count > 1 else { return [counting(from: latest, question) { _ in true }] }
        return owners.compactMap { owner in
            (run...latest).last { periods[$0].owner == owner && periods[$0].hasBegun(question) }.map {
                counting(from: $0, question) { $0.owner == owner }
            }
        }
    }

    /// The period that began last (L₀).
    private func latest(_ question: AccessQuestion) -> Int? {
        guard let latest = lastBegun(question) else { return nil }
        guard periods[latest].end == nil else { return latest }
        // A period without an end counts only if nothing else covers the time.
        let isCovered = periods[...latest].contains {
            $0.hasBegun(question) && $0.covers(question.moment) && !$0.isWithdrawn(by: question.moment)
        }
        return isCovered ? periods[...latest].lastIndex { $0.end != nil && $0.hasBegun(question) } : latest
    }

    private func lastBegun(_ question: AccessQuestion) -> Int? {
        var moment = question.moment
        if question.isAboutNow { moment = moment.adding(milliseconds: AccessTimeline.startTolerance, times: 1) }
        let end = periods.leadingCount { $0.start <= moment }
        return periods[..<end].lastIndex { $0.hasBegun(question) }
    }

    /// The period of the same product that counts in place of one that was withdrawn or ends earlier.
    private func counting(
        from latest: Int, _ question: AccessQuestion, where isIncluded: (SubscriptionPeriod) -> Bool
    ) -> Int {
        let (moment, first) = (question.moment, periods[latest])
        let isWithdrawn = first.isWithdrawn(by: moment)
        var best = first.isClean(by: moment) && first.end != nil ? latest : nil
        for place in (runStarts[latest]..<latest).reversed() {
            guard let reach = runEnds[place] else { break }
            guard first.end.map({ reach >= $0 }) ?? false || isWithdrawn && reach > moment else { break }
            let period = periods[place]
            guard isIncluded(period), period.hasBegun(question), period.isClean(by: moment), let end = period.end,
                first.end.map({ end >= $0 }) ?? false || isWithdrawn && end > moment
            else { continue }
            if best.map({ periods[$0].endsBefore(period) }) ?? true { best = place }
        }
        return best ?? latest
    }

    // MARK: The rows

    func state(of place: Int, _ moment: Timestamp, _ tolerance: Int64) -> SubscriptionState {
        let period = periods[place]
        func state(
            _ name: SubscriptionState.Name, _ reason: NoAccessReason?, until: Timestamp? = nil
        ) -> SubscriptionState {
            SubscriptionState(name, reason, until: until, of: period.purchase.transaction)
        }
        if let refusal = period.purchase.refusal { return state(.pending, refusal) }
        if let withdrawal = period.withdrawal, withdrawal.date <= moment {
            return state(.withdrawn, withdrawal.reason, until: withdrawal.date)
        }
        if let status, isRevoked(period, by: status, moment) { return state(.withdrawn, .revoked, until: status.stamp) }
        guard let end = period.end else { return state(.unknown, .periodUnknown) }
        if let upgradedAt = period.upgradedAt, upgradedAt <= moment {
            return state(.upgraded, .upgraded, until: upgradedAt)
        }
        if moment < end { return state(.active, nil, until: end) }
        let stated = renewals.current(about: period, at: moment)
        if let graceEnd = stated.flatMap({ graceEnd($0, of: period, moment) }), moment < graceEnd {
            return state(.inGrace, .inGrace, until: graceEnd)
        }
        let renewal = stated?.info
        let isRetried = renewal?.isInBillingRetry == true
        if isRetried, moment < Self.endOfRetry(end) { return state(.billingRetry, .billingRetry, until: end) }
        let isExpected =
            renewal.map { $0.autoRenewStatus == 1 && !isRetried && $0.expirationIntent == nil } ?? true
        guard isExpected else { return state(.expired, .expired, until: end) }
        var lapsed = state(.expired, .newsMissing, until: end)
        guard renewal?.priceIncreaseStatus != 0 else { return lapsed }
        let lapse = Lapse(end: end, longest: (period.length ?? 0) / 2)
        if moment < lapse.assumedUntil(tolerance) {
            lapsed = state(.active, nil, until: lapse.assumedUntil(tolerance))
            lapsed.isAssumed = true
        }
        lapsed.lapse = lapse
        return lapsed
    }

    /// The App Store tries to collect a price for 60 days.
    static func endOfRetry(_ end: Timestamp) -> Timestamp { end.adding(milliseconds: 60 * 86_400_000, times: 1) }

    /// The end of the grace period that renewal info states. Without one, it is the latest possible, until another
    /// status is signed.
    private func graceEnd(
        _ renewal: RenewalStatement, of period: SubscriptionPeriod, _ moment: Timestamp
    ) -> Timestamp? {
        guard renewal.info.isGraceEndUnknown else { return renewal.info.graceEnd }
        let isOver = status.map {
            $0.value != SignedStatus.inGrace && $0.stamp > renewal.stamp && $0.stamp <= moment
        }
        return isOver ?? false ? nil : period.latestGraceEnd
    }

    func isRevoked(_ period: SubscriptionPeriod, by status: SignedStatus, _ moment: Timestamp) -> Bool {
        status.value == SignedStatus.revoked && status.stamp > period.start && status.stamp <= moment
            && period.cleanStamp.map { $0 <= status.stamp } ?? true
    }

    /// The period of the earlier product that an upgrade had ended, if the upgrade was withdrawn and the App Store
    /// signed that period again without the flag. It is the only exception to the rule that a later product ends the
    /// earlier one.
    private func former(of place: Int, _ question: AccessQuestion) -> Int? {
        let (moment, period) = (question.moment, periods[place])
        guard let withdrawal = period.withdrawal, withdrawal.date <= moment, !withdrawal.isFamilyRevoke,
            period.purchase.refusal == nil, status.map({ !isRevoked(period, by: $0, moment) }) ?? true
        else { return nil }
        let run = runStarts[place]
        guard run > 0 else { return nil }
        let candidates = (runStarts[run - 1]..<run).filter { place in
            let former = periods[place]
            return former.hasBegun(question) && former.wasUpgraded && former.covers(moment)
                && former.withdrawal == nil && former.upgradedAt == nil && former.purchase.refusal == nil
                && former.newestStamp.map { $0 > withdrawal.stamp } ?? false
        }
        return candidates.max { periods[$0].endsBefore(periods[$1]) }
    }

    /// The state of a product that has no period that counts.
    private func rest(of subject: Subject, _ question: AccessQuestion) -> SubscriptionState {
        let moment = question.moment
        func isOwn(_ period: SubscriptionPeriod) -> Bool {
            period.productID == subject.productID && period.owner == subject.owner
        }
        let begun = lastBegun(question)
        let own = begun.flatMap { begun in
            (0...begun).last { isOwn(periods[$0]) && periods[$0].hasBegun(question) }
        }
        let next = periods[(begun.map { $0 + 1 } ?? 0)...].first { !$0.hasBegun(question) }
        guard let own, next.map({ !isOwn($0) }) ?? true else {
            let transaction = periods.first { isOwn($0) && !$0.hasBegun(question) }?.purchase.transaction
            return SubscriptionState(.pending, .notStarted, of: transaction)
        }
        let last = periods[own]
        func state(_ name: SubscriptionState.Name, _ reason: NoAccessReason) -> SubscriptionState {
            SubscriptionState(name, reason, until: last.end, of: last.purchase.transaction)
        }
        if let refusal = last.purchase.refusal { return state(.pending, refusal) }
        if let withdrawal = last.withdrawal, withdrawal.date <= moment { return state(.withdrawn, withdrawal.reason) }
        if last.isUpgraded(by: moment) { return state(.upgraded, .upgraded) }
        let successor = begun.flatMap { begun in
            (own...begun).first { periods[$0].productID != subject.productID && periods[$0].hasBegun(question) }
        }
        if let successor {
            let start = periods[successor].start
            let isCut = (runStarts[own]...own).contains { place in
                let period = periods[place]
                return isOwn(period) && period.isClean(by: start) && period.end.map { start < $0 } ?? true
            }
            if isCut { return state(.upgraded, .superseded) }
        }
        return state(.expired, .expired)
    }

    // MARK: Times

    /// How much earlier the periods that begin at a time begin for a question about now.
    package func lead(at moment: Timestamp) -> Int64 {
        let first = periods.leadingCount { $0.start < moment }
        return periods[first...].lazy.prefix { $0.start == moment }.map { $0.lead }.max() ?? 0
    }

    /// Every time at which a state can change, in order.
    package var changes: [Timestamp] {
        var times: [Timestamp] = []
        for period in periods {
            times.append(period.start)
            if let withdrawal = period.withdrawal { times.append(withdrawal.date) }
            if let upgradedAt = period.upgradedAt { times.append(upgradedAt) }
            guard let end = period.end else { continue }
            times.append(end)
            for renewal in renewals.all(about: period) {
                if renewal.stamp > end { times.append(renewal.stamp) }
                let graceEnd = renewal.info.isGraceEndUnknown ? period.latestGraceEnd : renewal.info.graceEnd
                if let graceEnd { times.append(graceEnd) }
                if renewal.info.isInBillingRetry == true { times.append(Self.endOfRetry(end)) }
            }
        }
        if let status { times.append(status.stamp) }
        var changes: [Timestamp] = []
        for time in times.sortedUnlessInOrder(by: <) where time != changes.last { changes.append(time) }
        return changes
    }
}

extension Array {
    /// The number of elements at the beginning for which a condition holds that holds for no later ones.
    package func leadingCount(_ holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
