import Foundation
import NIOCore
import PurchaseLedger
import PurchaseServer
import Synchronization
import Testing

@Suite("Deliveries to webhooks", .webhooks)
struct WebhookDeliveryTests {
    let world: WebhookWorld = CurrentWorld.opened()

    private static func url(_ receiver: WebhookReceiver) -> String { "http://127.0.0.1:\(receiver.port)/hook?a=1" }

    @Test(
        "Each event arrives once, in order for each customer, as GET /v1/events has it, and the database keeps no rows")
    func delivers() async throws {
        try await WebhookReceiver.run { receiver in
            let webhook = try WebhookWorld.webhook(Self.url(receiver))
            try await world.order("before")
            try await world.delivering(to: webhook) { _ in
                for round in 0..<20 {
                    for customer in ["alice", "bob", "carol"] { try await world.order("\(customer)\(round % 4)") }
                }
                try await receiver.wait("60 events") { $0.count >= 60 }
                try await world.wait { try await world.status.behind == 0 }
            }
            // The order before the webhook was known is not one of its events.
            let events = Array(try await world.events.dropFirst())
            let deliveries = receiver.deliveries
            #expect(deliveries.count == 60 && Set(deliveries.map(\.id)).count == 60)
            for customer in Set(deliveries.compactMap { $0.member("customer_id") }) {
                let name = "\"customer_id\":\"\(customer)\""
                let sent = try events.map { try $0.sent }.filter { $0.contains(name) }
                #expect(deliveries.map(\.text).filter { $0.contains(name) } == sent)
            }
            let first = try #require(deliveries.first)
            #expect(first.headers["content-type"] == "application/json")
            #expect(first.headers["host"] == "127.0.0.1:\(receiver.port)")
            let status = try await world.status
            #expect(status.pending == 0 && status.dead == [])
            #expect(receiver.connections <= 32)
        }
    }

    @Test(
        "Any answer but 2xx is attempted again with the same id: 500, a redirect, a closed connection, a wrong length, no HTTP",
        arguments: [
            WebhookReceiver.Reaction.answer(500), .answer(302, headers: ["location": "/elsewhere"]),
            .answer(404), .close, .answer(200, headers: ["content-length": "100"], bodyBytes: 10),
            .raw("SSH-2.0\r\n\r\n"),
        ])
    func retries(_ reaction: WebhookReceiver.Reaction) async throws {
        try await WebhookReceiver.run({ _, before in before == 0 ? reaction : .answer(201) }) { receiver in
            try await world.delivering(to: try WebhookWorld.webhook(Self.url(receiver))) { _ in
                try await world.order("alice")
                try await world.wait { try await world.status.pending == 1 }
                #expect(receiver.deliveries.count == 1)
                world.clock.advance(seconds: 7)
                try await receiver.wait("a second attempt") { $0.count == 2 }
                try await world.wait { try await world.status.pending == 0 }
            }
            #expect(Set(receiver.deliveries.map(\.id)).count == 1)
            #expect(receiver.deliveries.allSatisfy { $0.headers["host"] != nil })
            // No other address was asked.
            #expect(receiver.deliveries.count == 2)
        }
    }

    @Test("An answer beyond 64 KiB counts by its status, and its connection is not used again")
    func longAnswer() async throws {
        try await WebhookReceiver.run({ _, _ in .answer(200, bodyBytes: 4 << 20) }) { receiver in
            try await world.delivering(to: try WebhookWorld.webhook(Self.url(receiver))) { _ in
                for _ in 0..<3 { try await world.order("alice") }
                try await receiver.wait("three events") { $0.count == 3 }
                try await world.wait { try await world.status.behind == 0 }
            }
            #expect(receiver.connections == 3)
            #expect(try await world.status.pending == 0)
        }
    }

    @Test("A receiver that does not answer holds up its customer until the attempt's limit, and nobody else")
    func silence() async throws {
        let react: @Sendable (WebhookReceiver.Delivery, Int) -> WebhookReceiver.Reaction = {
            delivery, _ in
            delivery.member("customer_id") == "slow" ? .silence : .answer(204)
        }
        try await WebhookReceiver.run(react) { receiver in
            let webhook = try WebhookWorld.webhook(Self.url(receiver))
            // Long enough for the others on a busy machine: after the first failure the receiver seems down.
            try await world.delivering(to: webhook, attemptLimit: .seconds(6)) { _ in
                for customer in ["slow", "slow", "alice", "bob"] { try await world.order(customer) }
                try await receiver.wait("the others") { $0.count == 3 }
                try await world.wait { try await world.status.pending == 2 }
                receiver.react { _, _ in .answer(204) }
                world.clock.advance(seconds: 7)
                try await receiver.wait("all") { $0.count == 5 }
                try await world.wait { try await world.status.pending == 0 }
            }
            let slow = receiver.deliveries.filter { $0.member("customer_id") == "slow" }
            let events = try await world.events.prefix(2).map { try $0.sent }
            #expect(slow.map(\.text) == [events[0], events[0], events[1]])
        }
    }

    @Test(
        "After three days an event is given up; a gap says so before the customer's next events; it can be sent again")
    func gap() async throws {
        let first = "order_created"
        let refused = Mutex<String?>(nil)
        // Alice's first event is refused fourteen times.
        let react: @Sendable (WebhookReceiver.Delivery, Int) -> WebhookReceiver.Reaction = { delivery, before in
            let id = refused.withLock { refused in
                if refused == nil, delivery.member("customer_id") == "alice" { refused = delivery.id }
                return refused
            }
            return delivery.id == id && before < 14 ? .answer(503) : .answer(204)
        }
        try await WebhookReceiver.run(react) { receiver in
            try await world.delivering(to: try WebhookWorld.webhook(Self.url(receiver))) { _ in
                try await world.order("alice")
                try await world.order("alice")
                try await world.order("bob")
                try await world.wait { try await world.status.pending == 2 }
                // The last attempt of the first event is its fourteenth. The clock moves on when an attempt has
                // come, or is not due yet, until the gap has come, too: after so many failures the receiver is
                // tried seldom.
                for _ in 0..<200 {
                    guard try await world.status.pending > 0 else { break }
                    let before = receiver.deliveries.count
                    world.clock.advance(seconds: 43_200)
                    for _ in 0..<10 where receiver.deliveries.count == before {
                        try await Task.sleep(for: .milliseconds(50))
                    }
                    try await Task.sleep(for: .milliseconds(100))
                }
                #expect(try await world.status.pending == 0)
                let dead = try #require(try await world.status.dead.first)
                #expect(dead.type == first && dead.attempts == 14 && dead.lastError == "status_refused: 503")
                #expect(receiver.deliveries.count { $0.id == refused.withLock { $0 } } == 14)
                let alice = receiver.deliveries.filter { $0.member("customer_id") == "alice" }
                #expect(alice.suffix(2).map { $0.member("type") } == ["gap", first])
                #expect(alice.last?.id != refused.withLock { $0 })
                let gap = try #require(alice.dropLast().last)
                #expect(gap.text.contains(#""missing":["\#(alice[0].id)"]"#) && gap.id == "gap_\(alice[0].id)")
                // An operator resends it.
                let url = try await world.status.url
                let change = ChangeWebhook(app: "example", url: url, .resend(event: dead.event))
                #expect(try await world.ledger.perform(change) == 1)
                try await world.wait {
                    let status = try await world.status
                    return status.dead.isEmpty && status.pending == 0
                }
                #expect(receiver.deliveries.last?.id == alice[0].id)
            }
        }
    }

    @Test("410 disables the webhook; when it is enabled again, it continues after the last delivered event")
    func gone() async throws {
        try await WebhookReceiver.run({ _, _ in .answer(410) }) { receiver in
            try await world.delivering(to: try WebhookWorld.webhook(Self.url(receiver))) { _ in
                try await world.order("alice")
                try await world.wait { try await world.status.disabledAt != nil }
                try await world.order("alice")
                try await world.order("bob")
                #expect(receiver.deliveries.count == 1)
                receiver.react { _, _ in .answer(204) }
                let url = try await world.status.url
                _ = try await world.ledger.perform(ChangeWebhook(app: "example", url: url, .enable))
                world.clock.advance(seconds: 7)
                try await receiver.wait("all") { Set($0.map(\.id)).count == 3 && $0.count >= 4 }
                try await world.wait { try await world.status.pending == 0 }
            }
        }
    }

    @Test("A receiver that is gone is attempted rarely, and gets all events in order when it is back")
    func receiverIsBack() async throws {
        try await WebhookReceiver.run({ _, _ in .answer(503) }) { receiver in
            try await world.delivering(to: try WebhookWorld.webhook(Self.url(receiver))) { _ in
                for number in 0..<300 { try await world.order("customer\(number % 100)") }
                try await receiver.wait("the first failures") { $0.count >= 8 }
                // 32 were in flight when the eighth failed; from then on one at a time, after a pause of the clock.
                try await world.wait { try await world.status.pending >= 8 }
                let attempts = receiver.deliveries.count
                #expect(attempts <= 8 + 32)
                receiver.react { _, _ in .answer(204) }
                let done = { (deliveries: [WebhookReceiver.Delivery]) in
                    Set(deliveries.map(\.id)).count == 300
                }
                for _ in 0..<6000 {
                    guard !done(receiver.deliveries) else { break }
                    world.clock.advance(seconds: 10)
                    try await Task.sleep(for: .milliseconds(100))
                }
                try await receiver.wait("all", done)
                try await world.wait { try await world.status.pending == 0 }
            }
            try Self.expectOrder(receiver.deliveries, try await world.events)
        }
    }

    /// Every event has arrived; the first arrivals that were answered are in the order of each customer.
    static func expectOrder(_ deliveries: [WebhookReceiver.Delivery], _ events: [StoredEvent]) throws {
        var last: [String: String] = [:]
        for delivery in deliveries { last[delivery.text] = delivery.id }
        for event in events {
            let text = try event.sent
            #expect(last[text] != nil)
        }
        // By customer, the last arrivals follow the events.
        var order: [String: [String]] = [:]
        var seen: Set<String> = []
        for delivery in deliveries.reversed() where seen.insert(delivery.id).inserted {
            order[delivery.member("customer_id") ?? "", default: []].insert(delivery.text, at: 0)
        }
        for (customer, texts) in order {
            let name = "\"customer_id\":\"\(customer)\""
            let expected = try events.map { try $0.sent }.filter { $0.contains(name) }
            #expect(texts == expected, "\(customer)")
        }
    }

    @Test("Two servers with one database: each event arrives once; when one stops, the other continues")
    func twoServers() async throws {
        try await WebhookReceiver.run { receiver in
            let webhook = try WebhookWorld.webhook(Self.url(receiver))
            let other = try await world.again()
            try await other.delivering(to: webhook) { second in
                try await world.delivering(to: webhook) { first in
                    for number in 0..<100 { try await world.order("customer\(number % 9)") }
                    try await receiver.wait("100 events") { $0.count >= 100 }
                    try await world.wait { try await world.status.behind == 0 }
                    #expect(receiver.deliveries.count == 100, "an event was sent by both")
                    await second.stop()
                    for number in 0..<50 { try await world.order("customer\(number % 9)") }
                    try await receiver.wait("150 events") { $0.count >= 150 }
                    try await world.wait { try await world.status.behind == 0 }
                }
            }
            #expect(receiver.deliveries.count == 150)
            try Self.expectOrder(receiver.deliveries, try await world.events)
            try await other.database.close()
        }
    }

    @Test("A server died after a delivery and before recording it: the event is sent again, with the same id")
    func crash() async throws {
        try await WebhookReceiver.run { receiver in
            let webhook = try WebhookWorld.webhook(Self.url(receiver))
            let url = webhook.url.text
            // The lease of a dead server, which had sent its first event and recorded nothing.
            let dead = LeaseWebhook(app: "example", url: url, owner: [UInt8](repeating: 1, count: 16), beginning: 0)
            let lease = try #require(try await world.ledger.perform(dead))
            try await world.order("alice")
            try await world.order("alice")
            try await world.delivering(to: webhook) { _ in
                try await Task.sleep(for: .milliseconds(500))
                #expect(receiver.deliveries.isEmpty, "the lease of another server was ignored")
                world.clock.advance(seconds: 61)
                try await receiver.wait("both") { $0.count == 2 }
                try await world.wait { try await world.status.behind == 0 }
                // Results that only the dead server had can no longer be recorded.
                var late = lease
                late.cursor = 1
                #expect(try await world.ledger.perform(RecordDeliveries(late)) == nil)
            }
            try Self.expectOrder(receiver.deliveries, try await world.events)
        }
    }

    @Test("While secrets are exchanged, each signs; afterwards the new one alone, without losing an event", .webhooks)
    func rotation() async throws {
        let next = "whsec_" + Data(repeating: 7, count: 64).base64EncodedString()
        try await WebhookReceiver.run { receiver in
            let url = Self.url(receiver)
            try await world.delivering(to: try WebhookWorld.webhook(url)) { dispatcher in
                try await world.order("alice")
                try await receiver.wait("the first") { $0.count == 1 }
                let both = try WebhookWorld.webhook(url, secrets: [next, WebhookWorld.secret])
                dispatcher.deliver(to: [both], from: world.ledger)
                try await world.order("alice")
                try await receiver.wait("the second") { $0.contains { $0.signatures.count == 2 } }
                dispatcher.deliver(to: [try WebhookWorld.webhook(url, secrets: [next])], from: world.ledger)
                try await world.order("alice")
                try await receiver.wait("the third") { Set($0.map(\.id)).count == 3 }
            }
            for delivery in receiver.deliveries {
                let secrets = delivery.signatures.count == 2 ? 2 : 1
                #expect(delivery.signatures.count == secrets && delivery.signatures.allSatisfy { $0.hasPrefix("v1,") })
            }
        }
    }
}

extension WebhookReceiver.Delivery {
    var signatures: [Substring] { (headers["webhook-signature"] ?? "").split(separator: " ") }
}
