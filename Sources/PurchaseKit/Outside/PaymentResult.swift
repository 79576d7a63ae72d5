/// The result of asking the customer to pay.
public enum PaymentResult: Sendable, Equatable {
    /// The transaction. `updates` does not repeat it.
    case purchased(PaymentTransaction)
    /// It waits for an approval or for the customer's bank; `updates` brings the transaction, perhaps much later.
    case pending
    case cancelled
    /// `updates` brings everything, as in the original API.
    case queued
}
