import PurchaseVerification

/// The state of an event that was not delivered at the first attempt, or waits behind such an event.
public enum WebhookDeliveryState: String, Sendable, CaseIterable {
    /// It waits behind an earlier event of its customer.
    case waiting
    /// It will be attempted again.
    case retry
    /// It was given up; a `gap` precedes the customer's next event.
    case gap
    /// It was given up. It stays in the list until it is resent.
    case dead
    /// An operator resends it, out of order.
    case resend
}
