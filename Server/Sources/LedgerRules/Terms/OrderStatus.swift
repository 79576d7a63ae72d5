/// The states of an order.
public enum OrderStatus: String, Sendable, CaseIterable {
    /// It waits for payment.
    case created
    /// It is paid, and not yet delivered as a whole.
    case paid
    case fulfilled
    /// An operator ended it although something of it was not delivered.
    case closed
    case cancelled
    /// It was not paid in time.
    case expired
    case refunded
}
