/// The price charged for a transaction.
public struct PurchasePrice: Sendable, Hashable {
    /// `price`, or `renewalPrice`, in thousandths of the currency.
    public var milliunits: Int64?
    /// `currency` (ISO 4217).
    public var currency: ExactText?

    /// Creates a price from its claims.
    ///
    /// - Returns: `nil` if none of them is present.
    public init?(milliunits: Int64?, currency: ExactText?) {
        guard milliunits != nil || currency != nil else { return nil }
        self.milliunits = milliunits
        self.currency = currency
    }
}
