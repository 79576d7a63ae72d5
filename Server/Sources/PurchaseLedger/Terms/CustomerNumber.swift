/// A customer, by the number that the ledger's tables use. The outside name is known to the customers' table only.
public struct CustomerNumber: RawRepresentable, Sendable, Hashable, Comparable {
    /// The number.
    public let rawValue: Int64

    /// A customer by number.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: CustomerNumber, right: CustomerNumber) -> Bool { left.rawValue < right.rawValue }
}
