import PurchaseVerification

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
