import PurchaseLedger
import PurchaseVerification

/// An attempt, and its outcome.
struct WebhookAttempt: Sendable {
    let startedAt: Timestamp
    let result: Result

    enum Result: Sendable {
        case delivered
        case failed(WebhookFailure)
        /// The server stops, or lost the lease; the outcome says nothing about the receiver.
        case cancelled
    }
}
