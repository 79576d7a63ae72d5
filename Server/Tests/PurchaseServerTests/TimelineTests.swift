import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// What support reads about a customer.
@Suite("Timeline of a customer", .server)
struct TimelineTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let coins = "com.example.app.coins"

    @Test("E.5 The timeline tells an order's story from creation to refund, with repeated rejections as one entry")
    func story() async throws {
        let order = try await world.send(
            .post, "/v1/orders", OrderRequest(customerID: "alice", productID: Self.coins), as: .backend
        ).message(OrderMessage.self)
        let bought = try PurchaseServerWorld.signed("1")
        #expect(try await world.send(.post, "/v1/purchases", bought.claim(orderID: order.orderID)).status == 200)
        world.clock.advance(seconds: 10)
        _ = try await world.send(.post, "/v1/orders/\(order.orderID)/fulfil")
        world.clock.advance(seconds: 10)
        for _ in 1...3 {
            let wrong = PurchaseRequest(
                signedTransaction: bought.jws, productID: Self.coins, transactionID: "9", customerID: "alice")
            #expect(try await world.send(.post, "/v1/purchases", wrong).problem == "transaction_not_found")
            world.clock.advance(seconds: 1)
        }
        let refund = try PurchaseServerWorld.signed("1") { $0.refund(at: MintedWorld.moment.addingTimeInterval(50)) }
        let restore = RestoreRequest(customerID: "alice", signedTransactions: [refund.jws])
        #expect(try await world.send(.post, "/v1/restores", restore).status == 200)
        world.clock.advance(seconds: 10)
        _ = try await world.send(
            .post, "/v1/customers/alice/grants",
            GrantRequest(productID: Self.coins, quantity: 2, reason: "goodwill"))
        let path = "/v1/customers/alice/timeline"
        let page = try await world.send(.get, path, as: .backend).message(TimelinePage.self)
        #expect(page.customerID == "alice" && page.mergedInto == nil && page.nextCursor == nil)
        let types = page.timeline.map(\.type)
        #expect(types.first == "order_created" && types.last == "grant_added")
        #expect(Set(types).isSuperset(of: ["granted", "order_paid", "order_fulfilled", "revoked", "order_refunded"]))
        let rejected = page.timeline.filter { $0.type == "claim_rejected" && $0.code == "transaction_not_found" }
        #expect(rejected.map(\.count) == [3] && rejected.first?.lastAt != nil && rejected.first?.text.isEmpty == false)
        let revoked = try #require(page.timeline.first { $0.type == "revoked" })
        #expect(revoked.source == "restore" && revoked.text.contains("learned from a restore"))
        #expect(page.timeline.last?.reason == "goodwill" && page.timeline.map(\.at) == page.timeline.map(\.at).sorted())
        for limit in 1...4 {
            var (entries, cursor): ([TimelineMessage], String?) = ([], nil)
            repeat {
                let part = try await world.send(
                    .get, "\(path)?limit=\(limit)\(cursor.map { "&cursor=\($0)" } ?? "")", as: .backend
                ).message(TimelinePage.self)
                #expect(part.timeline.count <= limit)
                entries += part.timeline
                cursor = part.nextCursor
            } while cursor != nil
            #expect(entries == page.timeline, "limit \(limit)")
        }
        let nobody = try await world.send(.get, "/v1/customers/nobody/timeline", as: .backend)
        #expect(try nobody.problem == "customer_unknown" && nobody.status == 404)
    }

    @Test(
        "28.1 What a notification changed is in the customer's timeline, with its source, and the notification beside it"
    )
    func notification() async throws {
        var refunded = SignedTransactionTemplate()
        let bought = try PurchaseServerWorld.signed("1") { refunded = $0 }
        #expect(try await world.send(.post, "/v1/purchases", bought.claim()).status == 200)
        refunded.signedDate = MintedWorld.moment.addingTimeInterval(50)
        refunded.revocationDate = refunded.signedDate
        let payload = try MintedWorld.mint(NotificationTemplate(notificationType: "REFUND", transaction: refunded))
        let request = NotificationRequest(signedPayload: String(decoding: payload, as: UTF8.self))
        let answer = try await world.send(.post, "/notifications/v2", request, as: nil, idempotencyKey: nil)
        let entry = try answer.message(NotificationAnswer.self).entryID
        let page = try await world.send(.get, "/v1/customers/alice/timeline", as: .backend)
            .message(TimelinePage.self)
        let revoked = try #require(page.timeline.first { $0.type == "revoked" })
        #expect(revoked.source == "notification" && revoked.text.contains("learned from a notification"))
        #expect(revoked.entryID == entry)
        let list = try await world.send(.get, "/v1/notifications?customer_id=alice", as: .backend)
            .message(NotificationPage.self)
        #expect(list.notifications.map(\.entryID) == [entry])
    }

    @Test("E.4 Answers about a merged customer name the survivor")
    func merged() async throws {
        let claim = try PurchaseServerWorld.purchase(customerID: "tablet")
        _ = try await world.send(.post, "/v1/purchases", claim)
        _ = try await world.send(.post, "/v1/customers/tablet/merge", MergeRequest(into: "alice"))
        func send(_ path: String) async throws -> PurchaseServerWorld.Answer {
            try await world.send(.get, "/v1/customers/\(path)", as: .backend)
        }
        for (name, survivor) in [("tablet", "alice"), ("alice", nil)] as [(String, String?)] {
            let list = try await send("\(name)/entitlements").message(EntitlementList.self)
            #expect(list.customerID == name && list.mergedInto == survivor)
            let timeline = try await send("\(name)/timeline").message(TimelinePage.self)
            #expect(timeline.mergedInto == survivor && timeline.timeline.map(\.type).contains("granted"))
            #expect(timeline.timeline.map(\.type).contains("customer_merged"))
            let restored = try await world.send(
                .post, "/v1/restores", RestoreRequest(customerID: name, receiptData: claim.receiptData)
            ).message(RestoreAnswer.self)
            #expect(restored.mergedInto == survivor)
            let consumed = try await world.send(
                .post, "/v1/customers/\(name)/consume", PurchaseServerWorld.consumption(name, quantity: 1)
            ).message(ConsumptionMessage.self)
            #expect(consumed.customerID == name && consumed.mergedInto == survivor)
        }
    }
}
