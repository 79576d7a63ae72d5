import PurchaseVerification

/// A delivery that a webhook did not accept, and the number of attempts.
struct DeliveryRow<Content: Sendable>: Sendable {
    /// The event; for a notification, its entry.
    let content: Content
    let state: WebhookDeliveryState
    let attempts: Int
    let firstAt: Timestamp?
    /// The lane in which it waits, as it was when the event was first attempted.
    let lane: Int64

    init(_ content: Content, _ reader: inout RowReader) throws(LedgerStorageError) {
        self.content = content
        state = try reader.named(WebhookDeliveryState.self)
        attempts = Int(try reader.integer())
        firstAt = try reader.optionalTime()
        lane = try reader.integer()
    }
}
