import PurchaseVerification

/// The result for one row of an import.
public struct ImportOutcome: Sendable, Equatable {
    /// Why the row was rejected: its evidence was refused, a purchase belongs to another customer or gives nothing
    /// under the settings, or its order was refused. `nil` if it was accepted.
    public var rejection: Rejection?
    /// The product of the purchase that rejected the row; `nil` if no purchase did.
    public var product: String?
    /// The code of each purchase of the row, each once: `accepted`, or why it currently gives nothing. Expired,
    /// refunded and upgraded purchases are accepted history.
    public var purchases: [String] = []
    /// Whether an earlier import recorded the whole row, so that nothing was written.
    public var isKnown = false

    /// `accepted`, or the code of the rejection.
    public var code: String { rejection?.code ?? DecisionCode.accepted.rawValue }
}
