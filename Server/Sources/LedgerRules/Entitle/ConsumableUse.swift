import PurchaseVerification

/// Chooses the lots that a consumption takes units from.
public enum ConsumableUse {
    /// Takes units from lots, the oldest purchase first.
    ///
    /// - Parameters:
    ///   - lots: the lots of one customer, product and environment with the remaining units of each, in any order.
    /// - Returns: the units from each lot; `nil` if there are not enough.
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
