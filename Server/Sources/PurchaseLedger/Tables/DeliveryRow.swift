import PurchaseVerification

/// An event that a webhook did not accept, and the number of attempts.
struct DeliveryRow: Sendable {
    let event: NamedEvent
    let state: WebhookDeliveryState
    let attempts: Int
    let firstAt: Timestamp?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        event = try NamedEvent(&reader)
        state = try reader.named(WebhookDeliveryState.self)
        attempts = Int(try reader.integer())
        firstAt = try reader.optionalTime()
    }
}
