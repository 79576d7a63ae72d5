import PurchaseVerification

/// What a subscription whose members the backend invites gives to those who claimed its seats (docs/ledger.md,
/// "Seats").
public enum SeatGrounds {
    /// - Parameters:
    ///   - purchases: those of the purchaser, with any owner.
    ///   - renewal: the renewal facts of the original.
    ///   - revocations: the manual revocations of the purchaser's purchases.
    ///   - status: the newest signed status of the purchaser's subscription.
    /// - Returns: the access by product, for products of which a transaction has `invitationManagement: DEVELOPER`.
    public static func access(
        of purchases: [OwnedPurchase], renewal: ObservedRenewal?, revocations: [HandRevocation] = [],
        status: SignedStatus? = nil
    ) -> [ExactText: SeatAccess] {
        let periods = purchases.filter { ($0.statedKind ?? $0.terms?.kind) == .autoRenewable }
        let ours = periods.filter { $0.transactions.contains(where: \.isInvitedByBackend) }
        let products = Set(ours.compactMap(\.productID))
        guard !products.isEmpty else { return [:] }
        let table = SubscriptionTable(periods, renewal: renewal, status: status)
        var access: [ExactText: SeatAccess] = [:]
        for product in products {
            let seats = SubscriptionSeats(ours, of: product)
            var (steps, numbers): ([AccessTimeline.Step], [SeatAccess.Number]) = ([], [])
            for moment in table.changes {
                // The purchaser's account does not matter: the period can be held, or its periods can have several
                // owners.
                let states = table.states(.at(moment)).filter { $0.key.productID == product }.values
                guard let state = states.max(by: isLess), state.reason != .notStarted || !steps.isEmpty else {
                    continue
                }
                steps.append(
                    AccessTimeline.Step(
                        at: moment, lead: table.lead(at: moment), reason: state.reason, transaction: state.transaction))
                numbers.append(SeatAccess.Number(at: moment, seats: seats.number(.at(moment)) ?? 0))
            }
            access[product] = SeatAccess(timeline: AccessTimeline(steps.revoked(by: revocations)), numbers: numbers)
        }
        return access
    }

    /// Whether a state represents the product rather than another: the one with access, then the one that ends last.
    private static func isLess(_ left: SubscriptionState, _ right: SubscriptionState) -> Bool {
        if left.givesAccess != right.givesAccess { return right.givesAccess }
        let ends = (left.until ?? .epoch, right.until ?? .epoch)
        if ends.0 != ends.1 { return ends.0 < ends.1 }
        let ids = (left.transaction?.transactionID ?? "", right.transaction?.transactionID ?? "")
        if ids.0 != ids.1 { return ExactText.isNumericallyBefore(ids.0, ids.1) }
        return (left.reason?.rawValue ?? "") < (right.reason?.rawValue ?? "")
    }
}

extension ObservedTransaction {
    /// Whether it bought seats whose members the backend invites, so that they have no transactions.
    package var isInvitedByBackend: Bool { seats?.invitationManagement == "DEVELOPER" && ownership.holder == .buyer }
}

/// The seats of one product of a subscription (docs/ledger.md, "Seats"). A period can consist of several transactions:
/// the first, and additions.
public struct SubscriptionSeats: Sendable {
    /// The transactions of each period, in their order.
    private var periods: [[SubscriptionPeriod]] = []

    /// - Parameters:
    ///   - purchases: those of one subscription, with any product, in any order. Purchases without seats do not count.
    ///   - productID: the product.
    public init(_ purchases: [OwnedPurchase], of productID: ExactText) {
        let sorted = purchases.compactMap(SubscriptionPeriod.init).sorted(by: SubscriptionPeriod.isBefore)
        for period in sorted where period.productID == productID && period.seats != nil {
            if let place = periods.firstIndex(where: { period.isAddition(to: $0) }) {
                periods[place].append(period)
            } else {
                periods.append([period])
            }
        }
    }

    /// Whether the period of a transaction has one of some other transactions.
    public func isPeriod(of transaction: TransactionKey, sharedWith others: Set<TransactionKey>) -> Bool {
        periods.contains { transactions in
            let keys = Set(transactions.compactMap(\.purchase.transaction))
            return keys.contains(transaction) && !keys.subtracting([transaction]).isDisjoint(with: others)
        }
    }

    /// The seats of the period that counts at a time: those of its transactions that cover the time and are not
    /// withdrawn. Of several periods at once, as after a refund that was reversed, the one that the state table takes
    /// counts: the one that ends last. A renewal that was charged early counts from the end of the period before it.
    /// After the end, as in a grace period, they are those of its last moment.
    ///
    /// - Returns: `nil` if no transaction counts.
    public func number(_ question: AccessQuestion) -> Int64? {
        let moment = question.moment
        let begun = periods.map { transactions in
            transactions.filter { $0.hasBegun(question) && $0.isClean(by: moment) }
        }.filter { !$0.isEmpty }
        let current = begun.map { $0.filter { $0.covers(moment) } }.filter { !$0.isEmpty }
        guard var counting = current.max(by: Self.endsBefore) else {
            guard let last = begun.max(by: Self.endsBefore), let end = last.compactMap(\.end).max() else { return nil }
            return Self.sum(last.filter { $0.end == end })
        }
        while let before = current.last(where: { Self.isEarlyRenewal(counting, of: $0) }) { counting = before }
        return Self.sum(counting)
    }

    /// The order of periods that count at one time.
    private static func endsBefore(_ left: [SubscriptionPeriod], _ right: [SubscriptionPeriod]) -> Bool {
        guard let first = left.max(by: { $0.endsBefore($1) }), let second = right.max(by: { $0.endsBefore($1) }) else {
            return left.count < right.count
        }
        return first.endsBefore(second)
    }

    /// Whether a period was charged shortly before the end of another one, which it renews.
    private static func isEarlyRenewal(_ period: [SubscriptionPeriod], of former: [SubscriptionPeriod]) -> Bool {
        guard let first = period.first, let start = former.first?.start, let end = former.compactMap(\.end).max() else {
            return false
        }
        return start < first.start && end <= first.start.adding(milliseconds: first.allowance, times: 1)
    }

    private static func sum(_ transactions: [SubscriptionPeriod]) -> Int64 {
        transactions.reduce(0) { $0.saturatingSum($1.seats ?? 0) }
    }
}

extension SubscriptionPeriod {
    /// The later of its end and its first end: an extension of one transaction does not separate the others from it.
    fileprivate var latestEnd: Timestamp? { [end, firstEnd].compactMap(\.self).max() }

    /// Whether it added seats to a period. An addition ends with its period, while a renewal that was charged early
    /// ends later. What was bought after the whole period had been withdrawn is a purchase of its own, also if that was
    /// reversed, unless it was sold until an end of the period: then it was added after the reversal.
    fileprivate func isAddition(to transactions: [SubscriptionPeriod]) -> Bool {
        guard let end = transactions.compactMap(\.latestEnd).max(), let firstEnd, start < end, firstEnd <= end else {
            return false
        }
        let isAfterWithdrawal = transactions.allSatisfy { former in
            former.purchase.transactions.compactMap(\.lastWithdrawal).contains { $0 <= start }
        }
        return !isAfterWithdrawal || transactions.contains { $0.sharesEnd(with: self) }
    }

    private func sharesEnd(with other: SubscriptionPeriod) -> Bool {
        !Set([end, firstEnd].compactMap(\.self)).isDisjoint(with: [other.end, other.firstEnd].compactMap(\.self))
    }
}
