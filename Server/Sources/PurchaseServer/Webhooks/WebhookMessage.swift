import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// A message to send.
struct WebhookMessage: Sendable {
    let id: String
    let body: [UInt8]

    /// The headers of an attempt.
    ///
    /// - Parameter seconds: the time of the attempt, in seconds since 1970; receivers refuse messages that are old.
    func headers(at seconds: Int64, secrets: [WebhookSecret]) -> [(String, String)] {
        let signatures = secrets.map { "v1,\($0.signature(id: id, timestamp: seconds, body: body))" }
        return [
            ("webhook-id", id), ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }
}

extension WebhookMessage {
    /// The message of an event, the same for each attempt.
    init(_ event: OutgoingEvent) throws {
        self.init(id: event.id, body: try Wire.json(EventMessage(event.content)))
    }

    /// The message that an event of the customer was given up. It precedes the customer's next event, and is the same for each
    /// attempt except for its time.
    init(gapOf event: OutgoingEvent, at time: Timestamp) throws {
        let gap = EventMessage(
            type: .gap, at: "\(time)", app: event.content.app, customerID: event.content.customerID,
            entryID: event.content.entryID.text, missing: [event.id])
        self.init(id: "gap_\(event.id)", body: try Wire.json(gap))
    }
}
