/// The length of a paid period, such as three months.
public struct PurchasePeriod: Sendable, Hashable, Codable {
    public var unit: Unit
    public var count: Int

    /// The units of a period.
    public enum Unit: String, Sendable, Hashable, Codable { case day, week, month, year }

    /// A period of a number of units.
    public init(_ count: Int, _ unit: Unit) {
        self.count = count
        self.unit = unit
    }
}
