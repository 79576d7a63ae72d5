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
            // An addition ends with its period. A renewal that was charged early ends later.
            let place = periods.firstIndex { transactions in
                guard let end = transactions.compactMap(\.latestEnd).max(), let own = period.firstEnd else {
                    return false
                }
                return period.start < end && own <= end
            }
            if let place { periods[place].append(period) } else { periods.append([period]) }
        }
    }

    /// The seats of the period that counts at a time: those of its transactions that cover the time and are not
    /// withdrawn. A renewal that was charged early counts from the end of the period before it. After the end, as in a
    /// grace period, they are those of its last moment.
    ///
    /// - Returns: `nil` if no transaction counts.
    public func number(_ question: AccessQuestion) -> Int64? {
        let moment = question.moment
        let begun = periods.map { transactions in
            transactions.filter { $0.hasBegun(question) && $0.isClean(by: moment) }
        }.filter { !$0.isEmpty }
        if let current = begun.first(where: { $0.contains { $0.covers(moment) } }) {
            return Self.sum(current.filter { $0.covers(moment) })
        }
        guard let last = begun.last, let end = last.compactMap(\.end).max() else { return nil }
        return Self.sum(last.filter { $0.end == end })
    }

    private static func sum(_ transactions: [SubscriptionPeriod]) -> Int64 {
        transactions.reduce(0) { $0.saturatingSum($1.seats ?? 0) }
    }
}

extension SubscriptionPeriod {
    /// The later of its end and its first end: an extension of one transaction does not separate the others from it.
    fileprivate var latestEnd: Timestamp? { [end, firstEnd].compactMap(\.self).max() }
}
