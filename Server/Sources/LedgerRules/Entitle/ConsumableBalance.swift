public import PurchaseVerification

/// The remaining units of a customer's consumable, and the used units that no longer belong to the customer.
///
/// It is a sum over lots: each lot adds its own part, so a changed lot changes the sum by the difference, and the whole
/// history is never read.
public struct ConsumableBalance: Sendable, Hashable {
    /// The unused units of all lots.
    public var remaining: Int64 = 0
    /// Units that were used and later withdrawn, or used from lots that now belong to another customer.
    public var shortfall: Int64 = 0

    /// An empty balance.
    public init() {}

    /// The part of one lot in the balance of one customer.
    ///
    /// - Parameters:
    ///   - units: the units of the lot, if it is the customer's; otherwise 0.
    ///   - taken: how many units the customer used from it.
    package init(units: Int64, taken: Int64) {
        remaining = max(0, units - taken)
        shortfall = max(0, taken - units)
    }

    /// The part of one lot in the balance of one customer.
    ///
    /// - Parameters:
    ///   - taken: how many units the customer used from it.
    ///   - moment: the time of the query; `nil` for the stored sum.
    public init(_ lot: ConsumableLot, of customer: CustomerNumber, taken: Int64, at moment: Timestamp? = nil) {
        self.init(units: lot.owner == customer ? lot.units(at: moment) : 0, taken: taken)
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
