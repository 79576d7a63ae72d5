public import PurchaseVerification

/// The rest of a customer's consumable, and the used units that no longer belong to the customer.
///
/// A sum over lots: each lot adds its own part, so a changed lot changes the sum by the difference, and nothing reads the whole
/// history.
public struct ConsumableBalance: Sendable, Hashable {
    /// Units that were not used, of all lots.
    public var remaining: Int64 = 0
    /// Units that were used and then withdrawn, or used from lots that belong to another customer now.
    public var shortfall: Int64 = 0

    /// An empty balance.
    public init() {}

    /// The part of one lot in the balance of one customer.
    ///
    /// - Parameters:
    ///   - taken: how many units the customer used from it.
    ///   - moment: the time of the query; `nil` for the stored sum.
    public init(_ lot: ConsumableLot, of customer: CustomerNumber, taken: Int64, at moment: Timestamp? = nil) {
        let units = lot.owner == customer ? lot.units(at: moment) : 0
        remaining = max(0, units - taken)
        shortfall = max(0, taken - units)
    }

    public static func + (left: ConsumableBalance, right: ConsumableBalance) -> ConsumableBalance {
        var sum = left
        sum.remaining = left.remaining.saturatingSum(right.remaining)
        sum.shortfall = left.shortfall.saturatingSum(right.shortfall)
        return sum
    }

    /// The number of units that the customer may use.
    public func available(under policy: RefundShortfallPolicy) -> Int64 {
        switch policy {
        case .forgive: remaining
        case .debt: max(0, remaining - shortfall)
        }
    }
}

/// The lots that a consumption takes from.
public enum ConsumableUse {
    /// Takes units from lots, the oldest purchase first.
    ///
    /// - Parameters:
    ///   - lots: the lots of one customer, product and environment with the remaining units of each, in any order.
    /// - Returns: the units from each lot; `nil` if fewer are left.
    public static func takings(
        _ units: Int64, from lots: [(lot: ConsumableLot, remaining: Int64)]
    ) -> [ConsumedUnits.Taking]? {
        var (left, takings): (Int64, [ConsumedUnits.Taking]) = (units, [])
        for (lot, remaining) in lots.sorted(by: { $0.lot.isBefore($1.lot) }) where left > 0 && remaining > 0 {
            let taken = min(left, remaining)
            takings.append(ConsumedUnits.Taking(lot: lot.source, units: taken))
            left -= taken
        }
        return left == 0 && units > 0 ? takings : nil
    }
}
