import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Operations", .tags(.everyEngine), .ledger)
struct OperationTests {
    var folder: URL { CurrentWorld.opened() }
    let world: LedgerWorld = CurrentWorld.opened()

    @Test("A restore answers for each purchase: active, expired and withdrawn ones are not errors")
    func restore() async throws {
        world.clock.advance(days: 40)
        let evidence = [
            try LedgerWorld.period("901", from: 0), try LedgerWorld.period("902", from: 30),
            try LedgerWorld.signed("1", product: LedgerWorld.pro) {
                $0.refund(at: MintedWorld.moment.addingTimeInterval(7200))
            }, Array("forged".utf8),
        ]
        let outcome = try await world.restore(of: "alice", evidence)
        #expect(outcome.purchases.map(\.code) == ["subscription_expired", "accepted", "purchase_revoked"])
        #expect(outcome.purchases.map(\.disposition) == [.refused, .granted, .refused])
        #expect(outcome.refused.map(\.index) == [3])
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .active)
        // All three are bound to their owner.
        let bob = try await world.restore(of: "bob", Array(evidence.prefix(3)))
        #expect(bob.purchases.allSatisfy { $0.code == "already_claimed" && $0.claimedBy == .anotherCustomer })
    }

    @Test("Under the policy move, a claim takes a subscription from its owner; under deny it does not")
    func transfer() async throws {
        try await LedgerWorld.with({ $0.transfer = .move }) { world in
            let evidence = try LedgerWorld.period("901", from: 0)
            _ = try await world.claim("901", product: LedgerWorld.monthly, evidence)
            let moved = try await world.claim("901", product: LedgerWorld.monthly, customer: "bob", evidence)
            #expect(moved.code == "accepted")
            #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .moved)
            #expect(try await world.entitlement(LedgerWorld.monthly, of: "bob")?.state == .active)
            // A consumable stays.
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            #expect(try await world.claim("1", customer: "bob", try LedgerWorld.signed("1")).code == "already_claimed")
        }
    }

    @Test("An operator transfers a purchase, merges a customer, grants, revokes and lifts by hand")
    func byHand() async throws {
        _ = try await world.claim("1", try LedgerWorld.signed("1") { $0.quantity = 5 })
        _ = try await world.consume(2, "a")
        try await world.move("1", to: "bob")
        #expect(try await world.entitlement(of: "bob")?.balance == 5)
        #expect(try await world.entitlement()?.shortfall == 2)
        try await world.merge("alice", into: "bob")
        // The units that Alice had used of the purchase are still used.
        #expect(try await world.entitlement(of: "bob")?.balance == 3)
        #expect(try await world.entitlement(of: "bob")?.shortfall == 0)
        #expect(try await world.entitlement(of: "alice")?.balance == 3)
        let error = await #expect(throws: LedgerRefusal.self) {
            try await world.merge("bob", into: "alice")
        }
        #expect(error?.code == .customerMergeCircular)
        let grant = try await world.grant(LedgerWorld.pro, to: "bob")
        #expect(try await world.entitlement(LedgerWorld.pro, of: "bob")?.state == .active)
        let revocation = try await world.revoke(grant: grant, of: "bob")
        world.clock.advance(seconds: 1)
        #expect(try await world.entitlement(LedgerWorld.pro, of: "bob")?.state == .withdrawn)
        try await world.ledger.perform(LiftByHand(app: "example", customerID: "bob", id: revocation))
        #expect(try await world.entitlement(LedgerWorld.pro, of: "bob")?.state == .active)
        let coins = try await world.grant(LedgerWorld.coins, to: "bob", quantity: 4)
        #expect(try await world.entitlement(of: "bob")?.balance == 7)
        #expect(try await world.consume(7, "all", of: "bob").balance == 0)
        try await world.ledger.perform(LiftByHand(app: "example", customerID: "bob", id: coins))
        #expect(try await world.entitlement(of: "bob")?.shortfall == 4)
    }

    @Test("Revoking a purchase by hand overrides Apple until it is lifted")
    func revokePurchase() async throws {
        let evidence = try LedgerWorld.signed("1", product: LedgerWorld.pro)
        _ = try await world.claim("1", product: LedgerWorld.pro, evidence)
        let id = try await world.revoke("1", of: "alice")
        world.clock.advance(seconds: 60)
        #expect(try await world.entitlement(LedgerWorld.pro)?.reason == .revokedByHand)
        #expect(try await world.claim("1", product: LedgerWorld.pro, evidence).code == "purchase_withdrawn")
        try await world.ledger.perform(LiftByHand(app: "example", customerID: "alice", id: id))
        #expect(try await world.entitlement(LedgerWorld.pro)?.state == .active)
    }

    @Test("A token belongs to one customer forever, and so do purchases with it, without a claim, even earlier ones")
    func tokens() async throws {
        let token = UUID()
        try await world.observe(try LedgerWorld.signed("1") { $0.appAccountToken = token.uuidString.lowercased() })
        #expect(try await world.entitlement() == nil)
        #expect(try await world.assign(token, to: "alice"))
        #expect(try await world.entitlement()?.balance == 1)
        let error = await #expect(throws: LedgerRefusal.self) {
            try await world.assign(token, to: "bob")
        }
        #expect(error?.code == .tokenTaken)
        // A new token does not replace the old one.
        try await world.assign(UUID(), to: "alice")
        try await world.observe(try LedgerWorld.signed("2") { $0.appAccountToken = token.uuidString.lowercased() })
        #expect(try await world.entitlement()?.balance == 2)
    }

    @Test("A purchase from a notification pays the open order of its customer")
    func notificationPaysOrder() async throws {
        let order = try await world.order()
        try await world.observe(
            try LedgerWorld.signed("1") { $0.appAccountToken = order.appAccountToken.uuidString.lowercased() })
        #expect(try await world.order(order.id).status == .paid)
        let claim = try await world.claim("1", order: order.id, try LedgerWorld.signed("1"))
        #expect(claim.code == "accepted" && claim.orderStatus == .paid)
    }

    @Test("A claim needs the transaction in its own evidence, even if the ledger knows it")
    func ownEvidence() async throws {
        try await world.observe(try LedgerWorld.signed("1"))
        let outcome = try await world.claim("1", try LedgerWorld.signed("2"))
        #expect(outcome.code == "transaction_not_found" && outcome.disposition == .retry)
        #expect(try await world.entitlement() == nil)
    }

    @Test(
        "An idempotency key repeats an order in its present state, is refused for another request, and keeps no refusal"
    )
    func idempotency() async throws {
        let once = IdempotentRequest(
            sender: ["example", "key"], key: "k", method: "POST", path: "/v1/orders", body: [1])
        let operation = CreateOrder(
            app: "example", OrderDraft(customerID: "alice", productID: LedgerWorld.coins), once: once)
        let first = try await world.ledger.perform(operation)
        _ = try await world.claim("1", order: first.order.id, try LedgerWorld.signed("1"))
        let second = try await world.ledger.perform(operation)
        #expect(second.isReplayed && second.order.id == first.order.id && second.order.status == .paid)
        let other = IdempotentRequest(
            sender: ["example", "key"], key: "k", method: "POST", path: "/v1/orders", body: [2])
        let error = await #expect(throws: LedgerRefusal.self) {
            try await world.ledger.perform(
                CreateOrder(
                    app: "example", OrderDraft(customerID: "alice", productID: LedgerWorld.coins), once: other))
        }
        #expect(error?.code == .idempotencyKeyReused)
        let refused = IdempotentRequest(
            sender: ["example", "key"], key: "r", method: "POST", path: "/v1/orders", body: [1])
        for _ in 0..<2 {
            let error = await #expect(throws: LedgerRefusal.self) {
                try await world.ledger.perform(
                    CreateOrder(app: "example", OrderDraft(customerID: "alice", productID: "none"), once: refused))
            }
            #expect(error?.code == .productUnknown)
        }
    }

    @Test("The balance at a past time counts purchases and consumption until then")
    func pastBalance() async throws {
        _ = try await world.claim("1", try LedgerWorld.signed("1") { $0.quantity = 5 })
        let before = world.clock.now
        world.clock.advance(days: 1)
        _ = try await world.consume(2, "a")
        #expect(try await world.entitlement()?.balance == 3)
        #expect(try await world.entitlement(at: before)?.balance == 5)
    }

    @Test("Evidence with an unknown bundle id is stored, and observed once an app has the bundle id", .folder)
    func heldEvidence() async throws {
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
        let world = try await LedgerWorld(database)
        let token = UUID()
        try await world.assign(token, to: "alice")
        try await world.observe(
            try LedgerWorld.signed("1") {
                $0.bundleID = "com.example.second"
                $0.appAccountToken = token.uuidString.lowercased()
            })
        #expect(try await world.entitlement() == nil)
        var app = LedgerWorld.app()
        app.bundleIDs.insert("com.example.second")
        let again = try await world.restarted([app])
        #expect(try await again.entitlement()?.balance == 1)
        try await again.requireConsistency()
        try await database.close()
    }

    @Test("An API key is found by its text until it is revoked, and its text is nowhere in the database")
    func keys() async throws {
        let made = try await world.ledger.perform(CreateAPIKey(app: "example", name: "backend", scopes: [.backend]))
        let text = try #require(APIKeyText(made.text))
        #expect(try await world.ledger.answer(APIKeyLookup(text)) == made.key)
        #expect(APIKeyText("assay_\(String(repeating: "é", count: 60))") == nil)
        let forged = try #require(APIKeyText("assay_\(made.key.id)_x"))
        #expect(try await world.ledger.answer(APIKeyLookup(forged)) == nil)
        #expect(try await world.ledger.perform(RevokeAPIKey(id: made.key.id))?.revokedAt == world.clock.now)
        #expect(try await world.ledger.answer(APIKeyLookup(text)) == nil)
        #expect(try await world.ledger.answer(APIKeyList()).map(\.id) == [made.key.id])
    }

    @Test("Named entitlements are active if any of their products is")
    func named() async throws {
        _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
        let answer = try await world.entitlements(of: "alice")
        #expect(answer.named.map(\.name) == ["pro"] && answer.named.first?.isActive == true)
    }
}
