import PurchaseAPI
package import PurchaseLedger
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
        let signature = signatures.isEmpty ? [] : [("webhook-signature", signatures.joined(separator: " "))]
        return [("webhook-id", id), ("webhook-timestamp", "\(seconds)")] + signature + trace
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
        let id = "gap_\(event.id)"
        let gap = EventMessage(
            id: id, type: .gap, at: "\(time)", app: content.app, customerID: content.customerID,
            entryID: content.entryID.text, missing: [event.id])
        self.init(id: id, body: try Wire.json(gap))
    }
}

/// A signed message without an event, with which an operator tries a webhook before events depend on it
/// (docs/webhooks.md, "A test delivery").
package struct WebhookTrial: Sendable {
    /// The receiver; one of events, because notifications are forwarded as Apple signed them.
    package let webhook: Webhook

    private struct Message: Encodable {
        let type = "test"
        let at: String
        let app: String
    }

    package init(_ webhook: Webhook) {
        self.webhook = webhook
    }

    /// Sends one message, once.
    ///
    /// - Parameter time: the time of the message, which is signed.
    /// - Returns: the reason why the receiver did not accept it; `nil` if it did.
    package func send(at time: Timestamp) async -> WebhookFailure? {
        do {
            let client = try WebhookClient(webhook)
            defer { client.close() }
            let body = try Wire.json(Message(at: "\(time)", app: webhook.app))
            let message = WebhookMessage(id: "test_\(time.millisecondsSince1970)", body: body)
            try await client.send(message, at: time.millisecondsSince1970 / 1000)
            return nil
        } catch let failure as WebhookFailure {
            return failure
        } catch {
            // The certificates that it trusts cannot be read.
            return WebhookFailure(.tls, "\(error)")
        }
    }
}
