/// What an app says about the refund requests for a product.
public struct RefundPolicy: Sendable, Hashable {
    /// Whether Apple's question about a request is answered at all.
    public var answers = true
    /// The preference for a purchase that was not delivered.
    public var undelivered = PreferredRefund.none
    /// The preference for a consumable of which no unit was used.
    public var unused = PreferredRefund.none
    public var partlyUsed = PreferredRefund.none
    public var used = PreferredRefund.none
    /// The preference for a delivered purchase whose use is not measured: everything but consumables.
    public var unmeasured = PreferredRefund.none
    /// Whether the customer could try a part of it before buying it.
    public var providesSample = false

    /// The policy that answers without a preference.
    public init() {}
}
