import Foundation
import PurchaseLedger
import PurchaseVerification

/// The message that says that an event of a customer was given up. It precedes the customer's next event.
struct WebhookGap {
    let event: OutgoingEvent
    let app: String
    let time: Timestamp

    init(_ event: OutgoingEvent, app: String, at time: Timestamp) {
        (self.event, self.app, self.time) = (event, app, time)
    }

    /// The members of an event that say what it is about.
    private struct Members: Codable {
        var app: String?
        var at: String?
        var customer_id: String?
        var entry_id: String?
        var missing: [String]?
        var type: String?
    }

    /// The same id for each attempt, like that of an event.
    var message: WebhookMessage {
        var members = Members()
        do {
            members = try JSONDecoder().decode(Members.self, from: Data(event.body))
        } catch {
            // An event that cannot be read is missing too.
        }
        (members.app, members.at, members.missing, members.type) = (app, "\(time)", [event.id], "gap")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var body = Array(#"{"type":"gap"}"#.utf8)
        do {
            body = [UInt8](try encoder.encode(members))
        } catch {
            // Texts can always be encoded.
        }
        return WebhookMessage(id: "gap_\(event.id)", body: body)
    }
}
