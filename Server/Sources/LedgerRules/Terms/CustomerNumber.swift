/// A customer, by the number that the ledger's tables use. Only the table of customers has the outside name.
public struct CustomerNumber: RawRepresentable, Sendable, Hashable, Comparable {
    /// The number.
    public let rawValue: Int64

    /// Creates a customer number.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: CustomerNumber, right: CustomerNumber) -> Bool { left.rawValue < right.rawValue }
}
