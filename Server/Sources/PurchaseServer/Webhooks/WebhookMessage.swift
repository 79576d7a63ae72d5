import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// A message to send.
struct WebhookMessage: Sendable {
    /// `nil` if it is forwarded as it is, without an id and signatures.
    let id: String?
    let body: [UInt8]
    /// The trace of the request that caused it, as the header `traceparent`; `nil` if there is none.
    var trace: String?

    /// The headers of an attempt.
    ///
    /// - Parameter seconds: the time of the attempt, in seconds since 1970; receivers refuse messages that are old.
    func headers(at seconds: Int64, secrets: [WebhookSecret]) -> [(String, String)] {
        let trace = trace.map { [("traceparent", $0)] } ?? []
        guard let id else { return trace }
        let signatures = secrets.map { "v1,\($0.signature(id: id, timestamp: seconds, body: body))" }
        return [
            ("webhook-id", id), ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", signatures.joined(separator: " ")),
        ] + trace
    }
}

extension WebhookMessage {
    /// The message of an event, the same for each attempt, or the body of a notification; `nil` if it was erased.
    init?(_ event: OutgoingEvent) throws {
        switch event.content {
        case .event(let content): self.init(id: event.id, body: try Wire.json(EventMessage(content)))
        case .notification(let body):
            guard let body else { return nil }
            self.init(id: nil, body: body)
        }
    }

    /// The message that an event of the customer was given up. It precedes the customer's next event, and is the same
    /// for each attempt except for its time.
    init?(gapOf event: OutgoingEvent, at time: Timestamp) throws {
        guard case .event(let content) = event.content else { return nil }
        let gap = EventMessage(
            type: .gap, at: "\(time)", app: content.app, customerID: content.customerID,
            entryID: content.entryID.text, missing: [event.id])
        self.init(id: "gap_\(event.id)", body: try Wire.json(gap))
    }
}
