import PurchaseVerification

/// Deliveries that must be made in order.
public enum WebhookLane: Sendable, Hashable {
    /// The events of a customer, by the customer's key; those of an original that nobody owns, by its negative key; 0
    /// for the others.
    case customer(Int64)
    /// An event that an operator resends.
    case resend(event: Int64)
}
