import PurchaseVerification

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
