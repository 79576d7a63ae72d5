import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Orders are paid by money")
struct OrderPaymentTests {
    @Test("A claim that names its order pays it with an ended period of its life, and says that nothing is active")
    func endedPeriod() async throws {
        try await LedgerWorld.with { world in
            let order = try await world.order(product: LedgerWorld.monthly)
            let evidence = try LedgerWorld.period("901", from: 0)
            world.clock.advance(days: 40)
            let outcome = try await world.claim("901", product: LedgerWorld.monthly, order: order.id, evidence)
            #expect(outcome.code == "accepted")
            #expect(outcome.disposition == .granted)
            #expect(outcome.orderStatus == .paid)
            #expect(outcome.entitlement?.state == .expired)
            #expect(try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id)).isReplayed == false)
            let again = try await world.claim("901", product: LedgerWorld.monthly, order: order.id, evidence)
            #expect(again.code == "accepted" && again.isReplayed && again.orderStatus == .fulfilled)
            // Without an order the same claim is about access alone.
            let plain = try await world.claim("901", product: LedgerWorld.monthly, evidence)
            #expect(plain.code == "subscription_expired" && plain.disposition == .refused)
        }
    }

    @Test("A purchase that was upgraded or superseded pays its order; a refunded or revoked one does not")
    func statesOfPurchases() async throws {
        try await LedgerWorld.with { world in
            let first = try await world.order(product: LedgerWorld.monthly)
            let upgraded = try LedgerWorld.period("901", from: 0) {
                $0.isUpgraded = true
                $0.signedDate = $0.purchaseDate?.addingTimeInterval(60)
            }
            let outcome = try await world.claim("901", product: LedgerWorld.monthly, order: first.id, upgraded)
            #expect(outcome.code == "accepted" && outcome.orderStatus == .paid)
            let second = try await world.order(product: LedgerWorld.pro)
            let revoked = try LedgerWorld.signed("2", product: LedgerWorld.pro, kind: .nonConsumable) {
                $0.revocationDate = $0.purchaseDate?.addingTimeInterval(60)
                $0.signedDate = $0.revocationDate
            }
            let refused = try await world.claim("2", product: LedgerWorld.pro, order: second.id, revoked)
            #expect(refused.code == "purchase_revoked")
            #expect(try await world.order(second.id).status == .created)
        }
    }

    @Test("A purchase outside of its order's life leaves the order open, and the customer has it, ended or not")
    func outside() async throws {
        try await LedgerWorld.with { world in
            world.clock.advance(days: 2)
            let order = try await world.order()
            let outcome = try await world.claim("1", order: order.id, try LedgerWorld.signed("1"))
            #expect(outcome.code == "purchase_outside_order" && outcome.disposition == .granted)
            #expect(try await world.order(order.id).status == .created)
            #expect(try await world.entitlement()?.balance == 1)
            let subscription = try await world.order(product: LedgerWorld.monthly)
            world.clock.advance(days: 40)
            let ended = try await world.claim(
                "901", product: LedgerWorld.monthly, order: subscription.id, try LedgerWorld.period("901", from: 0))
            #expect(ended.code == "purchase_outside_order" && ended.disposition == .granted)
        }
    }

    @Test("An order that a claim names takes the payment from one that nobody named, and not from a named one")
    func namedLater() async throws {
        try await LedgerWorld.with { world in
            let abandoned = try await world.order()
            world.clock.advance(seconds: 60)
            let bought = try await world.order()
            let evidence = try LedgerWorld.signed("1") {
                $0.purchaseDate = MintedWorld.moment.addingTimeInterval(3700)
                $0.appAccountToken = bought.appAccountToken.uuidString.lowercased()
            }
            // A notification comes first, and both orders fit.
            try await world.observe(evidence)
            #expect(try await world.order(abandoned.id).status == .paid)
            let outcome = try await world.claim("1", order: bought.id, evidence)
            #expect(outcome.code == "accepted" && outcome.orderID == bought.id)
            #expect(try await world.order(abandoned.id).status == .created)
            #expect(try await world.order(bought.id).status == .paid)
            #expect(try await world.events().contains("order_reopened"))
            let other = try await world.claim("1", order: abandoned.id, evidence)
            #expect(other.code == "already_claimed" && other.claimedBy == .anotherOrder)
            #expect(try await world.entitlement()?.balance == 1)
        }
    }

    @Test("A payment that nobody named stays with an order that was fulfilled")
    func namedTooLate() async throws {
        try await LedgerWorld.with { world in
            let first = try await world.order(product: LedgerWorld.pro)
            world.clock.advance(seconds: 60)
            let second = try await world.order(product: LedgerWorld.pro)
            let evidence = try LedgerWorld.signed("1", product: LedgerWorld.pro, kind: .nonConsumable)
            _ = try await world.claim("1", product: LedgerWorld.pro, evidence)
            _ = try await world.ledger.perform(FulfilOrder(app: "example", orderID: first.id))
            let outcome = try await world.claim("1", product: LedgerWorld.pro, order: second.id, evidence)
            #expect(outcome.claimedBy == .anotherOrder)
        }
    }

    @Test("A free trial pays the order of its subscription, and the order shows price and offer")
    func freeTrial() async throws {
        try await LedgerWorld.with { world in
            let order = try await world.order(product: LedgerWorld.monthly)
            let trial = try LedgerWorld.period("901", from: 0, days: 7) {
                $0.price = 0
                $0.offerType = 1
                $0.offerDiscountType = "FREE_TRIAL"
            }
            let outcome = try await world.claim("901", product: LedgerWorld.monthly, order: order.id, trial)
            #expect(outcome.code == "accepted" && outcome.orderStatus == .paid)
            let paid = try await world.order(order.id)
            #expect(paid.payment?.price?.milliunits == 0)
            #expect(paid.payment?.offer != nil)
        }
    }

    @Test("A tester's order without an environment also takes Sandbox; everybody else's does not")
    func testers() async throws {
        try await LedgerWorld.with { world in
            func sandbox(_ id: String) throws -> [UInt8] {
                try LedgerWorld.signed(id) { $0.environment = "Sandbox" }
            }
            let plain = try await world.order()
            let refused = try await world.claim("1", order: plain.id, try sandbox("1"))
            #expect(refused.code == "order_environment_mismatch" && refused.disposition == .granted)
            _ = try await world.ledger.perform(ChangeTester(app: "example", customerID: "tess", isTester: true))
            let order = try await world.order("tess")
            let paid = try await world.claim("2", customer: "tess", order: order.id, try sandbox("2"))
            #expect(paid.code == "accepted" && paid.orderStatus == .paid)
            let named = try await world.order(environment: .sandbox)
            #expect(try await world.claim("3", order: named.id, try sandbox("3")).orderStatus == .paid)
        }
    }

    @Test("The order follows the refund of its purchase, also when a copy brings it, and its reversal")
    func refundOfCopy() async throws {
        try await LedgerWorld.with { world in
            let order = try await world.order(product: LedgerWorld.monthly)
            func period(_ id: String, _ change: @escaping (inout SignedTransactionTemplate) -> Void = { _ in }) throws
                -> [UInt8]
            {
                try LedgerWorld.period(id, from: 0) {
                    $0.webOrderLineItemID = "77"
                    change(&$0)
                }
            }
            _ = try await world.claim("901", product: LedgerWorld.monthly, order: order.id, try period("901"))
            try await world.observe(
                try period("902") {
                    $0.purchaseDate = $0.purchaseDate?.addingTimeInterval(3600)
                    $0.revocationDate = $0.purchaseDate
                    $0.signedDate = $0.purchaseDate
                })
            #expect(try await world.order(order.id).status == .refunded)
            try await world.observe(
                try period("902") {
                    $0.purchaseDate = $0.purchaseDate?.addingTimeInterval(3600)
                    $0.signedDate = $0.purchaseDate?.addingTimeInterval(3600)
                })
            #expect(try await world.order(order.id).status == .paid)
        }
    }

    @Test("Fulfilling takes the whole lot once; a lot of which part was consumed or refunded is refused")
    func lots() async throws {
        try await LedgerWorld.with { world in
            let order = try await world.order(quantity: 3)
            let coins = try LedgerWorld.signed("1") { $0.quantity = 3 }
            _ = try await world.claim("1", order: order.id, coins)
            _ = try await world.consume(1, "a")
            let error = await #expect(throws: LedgerRefusal.self) {
                try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id))
            }
            #expect(error?.code == .orderConsumed)
            let second = try await world.order(quantity: 3)
            _ = try await world.claim("2", order: second.id, try LedgerWorld.signed("2") { $0.quantity = 3 })
            let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await world.ledger.perform(FulfilOrder(app: "example", orderID: second.id)).isReplayed
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { !$0 } == 1)
            #expect(try await world.entitlement()?.balance == 2)
        }
    }
}
