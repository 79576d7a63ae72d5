/// The outcome of a customer's payments.
enum PaymentMode: String, Codable, CaseIterable, Sendable {
    case normal
    /// A parent must approve it.
    case askToBuy = "ask-to-buy"
    /// The customer must first confirm something outside of the app; the app sees a failed payment.
    case interrupted
    /// The customer cancels.
    case cancelled
}
