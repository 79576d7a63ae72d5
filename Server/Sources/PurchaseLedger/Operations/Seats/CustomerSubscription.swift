/// A subscription that a customer owns, or of which they claimed a seat, for one product.
public struct CustomerSubscription: Sendable, Equatable {
    public var originalTransactionID: String
    /// What it gives the customer. Several subscriptions of one product are one entitlement elsewhere.
    public var entitlement: Entitlement
    /// The claimed seat; `nil` if the customer owns the subscription.
    public var seat: SeatRecord?
}
