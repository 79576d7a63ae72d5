import EvidenceMint
import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

/// `forward:`: genuine notifications, passed on to other URLs.
@Suite("Forwarded notifications", .webhooks)
struct ForwardTests {
    let world: WebhookWorld = CurrentWorld.opened()

    private static func url(_ receiver: WebhookReceiver) -> String { "http://127.0.0.1:\(receiver.port)/apple?token=1" }

    private static func test(_ id: Int, environment: String = "Production") -> NotificationTemplate {
        var template = MintedWorld.testNotification(environment: environment)
        template.notificationUUID = UUID(uuidString: String(format: "00000000-0000-4000-8000-%012d", id))?.uuidString
        template.signedDate = MintedWorld.moment.addingTimeInterval(Double(id))
        return template
    }

    @Test("28.3 Each notification of the environment is forwarded once, byte for byte, whatever the body around it")
    func unchanged() async throws {
        try await WebhookReceiver.run { receiver in
            var sent: [String] = []
            // Before the first start nothing is forwarded.
            try await world.receive(Self.test(1))
            try await world.delivering(to: try WebhookWorld.forward(Self.url(receiver))) { _ in
                sent.append(try await world.receive(Self.test(2)))
                try await world.receive(Self.test(3, environment: "Sandbox"))
                sent.append(
                    try await world.receive(Self.test(4)) {
                        "  {\n\t\"signedPayload\" : \"\($0)\", \"new\": [1.0, \"\\u00e9é\"]}\r\n"
                    })
                // An escape that JSON allows and nobody needs.
                sent.append(try await world.receive(Self.test(5)) { #"{"signedPayload":"\u0065\#($0.dropFirst())"}"# })
                sent.append(try await world.receive(MintedWorld.notification(environment: "Production")))
                // Apple repeats a delivery, and signs it again.
                try await world.receive(Self.test(2))
                var again = Self.test(4)
                again.signedDate = again.signedDate.map { $0.addingTimeInterval(60) }
                try await world.receive(again)
                sent.append(try await world.receive(Self.test(6)))
                try await receiver.wait("every notification") { $0.count >= sent.count }
                try await world.wait { try await world.status.behind == 0 }
            }
            #expect(receiver.deliveries.map(\.text).sorted() == sent.sorted())
            for delivery in receiver.deliveries {
                #expect(delivery.headers["content-type"] == "application/json")
                #expect(delivery.headers.keys.allSatisfy { !$0.hasPrefix("webhook-") })
            }
            // A new dispatcher continues after the last one.
            try await world.delivering(to: try WebhookWorld.forward(Self.url(receiver))) { _ in
                let last = try await world.receive(Self.test(7))
                try await receiver.wait("one more") { $0.last?.text == last }
            }
            #expect(receiver.deliveries.count == sent.count + 1)
        }
    }

    @Test(
        "28.3 A failed notification is sent again, is given up after three days without a gap, and can be sent again by hand; others do not wait"
    )
    func retries() async throws {
        let isRefusing = Mutex(true)
        // Each signature is another, so the notification is recognised by what is signed.
        let minted = try String(decoding: MintedWorld.mint(Self.test(1)), as: UTF8.self)
        let first = minted.split(separator: ".").dropLast().joined(separator: ".")
        let react: @Sendable (WebhookReceiver.Delivery, Int) -> WebhookReceiver.Reaction = { delivery, _ in
            isRefusing.withLock { $0 } && delivery.text.contains(first) ? .answer(503) : .answer(200)
        }
        try await WebhookReceiver.run(react) { receiver in
            let forward = try WebhookWorld.forward(Self.url(receiver))
            try await world.delivering(to: forward) { _ in
                let body = try await world.receive(Self.test(1))
                for id in 2...5 { try await world.receive(Self.test(id)) }
                try await receiver.wait("the others") { Set($0.map(\.text)).count == 5 }
                try await world.wait { try await world.status.pending == 1 }
                // An attempt is planned once the one before is recorded, so the clock moves again if none was due.
                var (made, checks) = (1, 0)
                try await world.wait {
                    checks += 1
                    let count = receiver.deliveries.count { $0.text == body }
                    if count == made, checks % 25 == 1 { world.clock.advance(seconds: 110_000) }
                    made = count
                    return try await world.status.dead.count == 1
                }
                #expect(receiver.deliveries.count { $0.text == body } == 14)
                let dead = try #require(try await world.status.dead.first)
                #expect(dead.type == "TEST" && dead.attempts == 14 && dead.lastError == "status_refused: 503")
                isRefusing.withLock { $0 = false }
                let change = ChangeWebhook(
                    app: "example", forward.stream, url: forward.url.text, .resend(event: dead.event))
                #expect(try await world.ledger.perform(change) == 1)
                // After many failures in a row the next attempt waits for a minute.
                world.clock.advance(seconds: 61)
                try await receiver.wait("once more") { $0.count { $0.text == body } == 15 }
                try await world.wait { try await world.status.dead.isEmpty }
                #expect(receiver.deliveries.count { $0.text == body } == 15 && receiver.deliveries.count == 19)
                #expect(receiver.deliveries.allSatisfy { $0.text.hasPrefix(#"{"signedPayload":"#) })
            }
        }
    }

    @Test(
        "28.3 A receiver that is silent, and one that is dead, delay neither Apple's answer nor webhooks nor another forward"
    )
    func independence() async throws {
        try await WebhookReceiver.run({ _, _ in .silence }) { silent in
            try await WebhookReceiver.run { good in
                try await WebhookReceiver.run { events in
                    let webhooks = [
                        try WebhookWorld.forward(Self.url(silent), of: .sandbox),
                        // Nothing listens there.
                        try WebhookWorld.forward("http://127.0.0.1:1/", of: .sandbox),
                        try WebhookWorld.forward(Self.url(good), of: .sandbox),
                        try WebhookWorld.webhook("http://127.0.0.1:\(events.port)/"),
                    ]
                    try await PurchaseServerWorld.run({ $0.webhooks = webhooks }) { world in
                        for _ in 0..<1000 {
                            if try await world.ledger.answer(WebhookList(app: "example")).count == webhooks.count {
                                break
                            }
                            try await Task.sleep(for: .milliseconds(20))
                        }
                        var slowest = Duration.zero
                        for id in 1...60 {
                            let payload = try MintedWorld.mint(Self.test(id, environment: "Sandbox"))
                            let start = ContinuousClock.now
                            let answer = try await world.send(
                                .post, "/notifications/v2",
                                NotificationRequest(signedPayload: String(decoding: payload, as: UTF8.self)), as: nil,
                                idempotencyKey: nil)
                            slowest = max(slowest, ContinuousClock.now - start)
                            #expect(answer.status == 200)
                            if id.isMultiple(of: 10) {
                                let order = OrderRequest(
                                    customerID: "customer \(id)", productID: "com.example.app.coins")
                                #expect(try await world.send(.post, "/v1/orders", order).status == 201)
                            }
                        }
                        let start = ContinuousClock.now
                        try await good.wait("every notification") { $0.count == 60 }
                        try await events.wait("every event") { $0.count == 6 }
                        let rest = ContinuousClock.now - start
                        // An attempt at the silent receiver takes 15 seconds.
                        #expect(slowest < .seconds(14) && rest < .seconds(14), "\(slowest), \(rest)")
                    }
                }
            }
        }
    }

    @Test("28.3 What a server that is gone left is forwarded by the next one, and an erased notification is not")
    func leftovers() async throws {
        try await WebhookReceiver.run({ _, _ in .answer(500) }) { receiver in
            let forward = try WebhookWorld.forward(Self.url(receiver))
            var sent: [String] = []
            let vacancy = WebhookVacancy(app: "example", forward.stream, url: forward.url.text, owner: [1])
            let beginning = try #require(try await world.ledger.answer(vacancy))
            _ = try await world.ledger.perform(
                LeaseWebhook(
                    app: "example", forward.stream, url: forward.url.text, owner: [1], beginning: beginning))
            for id in 1...3 { sent.append(try await world.receive(Self.test(id))) }
            var refund = SignedTransactionTemplate()
            let bought = try PurchaseServerWorld.signed("9") { refund = $0 }
            var submission = PurchaseSubmission(app: "example")
            (submission.claim.customerID, submission.claim.productID) = ("mallory", bought.productID)
            (submission.claim.transactionID, submission.evidence) = ("9", Array(bought.jws.utf8))
            _ = try await world.ledger.submit(submission)
            refund.revocationDate = MintedWorld.moment
            refund.signedDate = MintedWorld.moment.addingTimeInterval(9)
            let erased = try await world.receive(
                NotificationTemplate(notificationType: "REFUND", transaction: refund)
            ) { "{\"signedPayload\": \"\($0)\" }" }
            _ = try await world.ledger.perform(
                EraseCustomer(app: "example", customerID: "mallory", reason: "asked for it"))
            // The lease of the first server ends.
            world.clock.advance(seconds: 61)
            receiver.react { _, _ in .answer(200) }
            let next = try await world.again()
            try await next.delivering(to: forward) { _ in
                try await receiver.wait("what was left") { $0.count >= 3 }
                try await next.wait { try await next.status.behind == 0 }
            }
            try await next.database.close()
            #expect(receiver.deliveries.map(\.text).sorted() == sent.sorted())
            #expect(!receiver.deliveries.contains { $0.text == erased })
        }
    }
}
