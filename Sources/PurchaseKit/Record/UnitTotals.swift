/// The units of one consumable that were bought and used, without a server.
struct UnitTotals: Codable, Equatable {
    /// Units of purchases that are no longer listed one by one.
    var boughtEarlier: Int64 = 0
    /// All units that were used, those of `uses` included.
    var used: Int64 = 0
    /// The newest uses, so that a repeated call changes nothing.
    var uses: [ConsumedUnits] = []

    /// The number of uses that are listed one by one. A repetition of an older use is not recognised.
    static let limit = 200

    mutating func use(_ units: ConsumedUnits) {
        guard !uses.contains(where: { $0.consumptionID == units.consumptionID }) else { return }
        used += units.quantity
        uses = uses.suffix(Self.limit - 1) + [units]
    }

    /// Adds the totals of another device or store. Its listed uses are added once; of the earlier ones the larger sum counts.
    mutating func add(_ other: UnitTotals) {
        func listed(_ totals: UnitTotals) -> Int64 { totals.uses.reduce(0) { $0 + $1.quantity } }
        used += max(0, other.used - listed(other) - (used - listed(self)))
        boughtEarlier = max(boughtEarlier, other.boughtEarlier)
        for units in other.uses { use(units) }
    }
}
