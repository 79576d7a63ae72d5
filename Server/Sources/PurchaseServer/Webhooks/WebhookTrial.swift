import PurchaseLedger
import PurchaseVerification

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
