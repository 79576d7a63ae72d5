import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Orders are paid by money", .ledger)
struct OrderPaymentTests {
    let world: LedgerWorld = CurrentWorld.opened()

    @Test("A claim that names its order pays it with an ended period of its life, and says that nothing is active")
    func endedPeriod() async throws {
        let order = try await world.order(product: LedgerWorld.monthly)
        let evidence = try LedgerWorld.period("901", from: 0)
        world.clock.advance(days: 40)
        let outcome = try await world.claim("901", product: LedgerWorld.monthly, order: order.id, evidence)
        #expect(outcome.code == "accepted" && outcome.disposition == .granted && outcome.orderStatus == .paid)
        #expect(outcome.entitlement?.state == .expired)
        #expect(try await world.fulfil(order.id).isReplayed == false)
        let again = try await world.claim("901", product: LedgerWorld.monthly, order: order.id, evidence)
        #expect(again.code == "accepted" && again.isReplayed && again.orderStatus == .fulfilled)
        // Without an order, the same claim concerns access only.
        let plain = try await world.claim("901", product: LedgerWorld.monthly, evidence)
        #expect(plain.code == "subscription_expired" && plain.disposition == .refused)
    }

    @Test("A purchase that was upgraded or superseded pays its order; a refunded or revoked one does not")
    func statesOfPurchases() async throws {
        let first = try await world.order(product: LedgerWorld.monthly)
        let upgraded = try LedgerWorld.period("901", from: 0) {
            $0.isUpgraded = true
            $0.signedDate = $0.purchaseDate?.addingTimeInterval(60)
        }
        let outcome = try await world.claim("901", product: LedgerWorld.monthly, order: first.id, upgraded)
        #expect(outcome.code == "accepted" && outcome.orderStatus == .paid)
        let second = try await world.order(product: LedgerWorld.pro)
        let revoked = try LedgerWorld.signed("2", product: LedgerWorld.pro) {
            $0.refund(at: $0.purchaseDate?.addingTimeInterval(60))
        }
        let refused = try await world.claim("2", product: LedgerWorld.pro, order: second.id, revoked)
        #expect(refused.code == "purchase_revoked")
        #expect(try await world.order(second.id).status == .created)
    }

    @Test("A purchase outside of its order's life leaves the order open, and the customer has it, ended or not")
    func outside() async throws {
        world.clock.advance(days: 2)
        let order = try await world.order()
        let outcome = try await world.claim("1", order: order.id, try LedgerWorld.signed("1"))
        #expect(outcome.code == "purchase_outside_order" && outcome.disposition == .granted)
        #expect(try await world.order(order.id).status == .created)
        #expect(try await world.entitlement()?.balance == 1)
        let subscription = try await world.order(product: LedgerWorld.monthly)
        world.clock.advance(days: 40)
        let ended = try await world.claim("901", order: subscription.id, try LedgerWorld.period("901", from: 0))
        #expect(ended.code == "purchase_outside_order" && ended.disposition == .granted)
    }

    @Test("A named order takes the payment of an order that no claim named, but not of a named one")
    func namedLater() async throws {
        let abandoned = try await world.order()
        world.clock.advance(seconds: 60)
        let bought = try await world.order()
        let evidence = try LedgerWorld.signed("1") {
            $0.purchaseDate = MintedWorld.moment.addingTimeInterval(3700)
            $0.appAccountToken = bought.appAccountToken.uuidString.lowercased()
        }
        // A notification arrives first, and both orders match.
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

    @Test("A restored copy of an old purchase pays no order, and adds nothing to a balance")
    func copies() async throws {
        let first = try LedgerWorld.period("901", from: 0) { $0.webOrderLineItemID = "77" }
        let copy = try LedgerWorld.period("902", from: 0) { $0.webOrderLineItemID = "77" }
        _ = try await world.claim("901", product: LedgerWorld.monthly, first)
        world.clock.advance(seconds: 600)
        let order = try await world.order(product: LedgerWorld.monthly)
        let outcome = try await world.claim("902", product: LedgerWorld.monthly, order: order.id, copy)
        #expect(outcome.code == "purchase_outside_order" && outcome.disposition == .granted)
        #expect(try await world.order(order.id).status == .created)
        #expect(try await world.claim("902", product: LedgerWorld.monthly, copy).code == "accepted")

        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        let coins = try LedgerWorld.signed("2") { $0.originalTransactionID = "1" }
        #expect(try await world.claim("2", coins).claimedBy == .restoredCopy)
        #expect(try await world.entitlement()?.balance == 1)
    }

    @Test("An order whose purchase is transferred to another customer is open again; after a merge it stays paid")
    func purchaseLeaves() async throws {
        let order = try await world.order(product: LedgerWorld.coins)
        _ = try await world.claim("1", order: order.id, try LedgerWorld.signed("1"))
        try await world.merge("alice", into: "ann")
        #expect(try await world.order(order.id).status == .paid)
        try await world.move("1", to: "bob")
        #expect(try await world.order(order.id).status == .created)
        await #expect(throws: LedgerRefusal.self) {
            try await world.fulfil(order.id)
        }
        try await world.requireConsistency()
    }

    @Test("One purchase pays one order, although its restored copy came first", arguments: [true, false])
    func copyFirst(isNamed: Bool) async throws {
        for (product, kind) in [
            (LedgerWorld.coins, SignedTransactionTemplate.ProductType.consumable),
            (LedgerWorld.pass, .nonRenewingSubscription), (LedgerWorld.monthly, .autoRenewableSubscription),
        ] {
            func evidence(_ id: String, seconds: Double) throws -> [UInt8] {
                try LedgerWorld.signed("\(product).\(id)", product: product, kind: kind) {
                    $0.originalTransactionID = "\(product).1"
                    $0.purchaseDate = $0.purchaseDate?.addingTimeInterval(seconds)
                    guard product == LedgerWorld.monthly else { return }
                    $0.expiresDate = MintedWorld.moment.addingTimeInterval(30 * 86_400)
                    $0.webOrderLineItemID = "7"
                }
            }
            let first = try await world.order(product: product)
            let second = try await world.order(product: product)
            let copy = try await world.claim(
                "\(product).2", product: product, order: isNamed ? first.id : nil, try evidence("2", seconds: 60))
            #expect(copy.code == "accepted" && copy.orderID == first.id)
            let outcome = try await world.claim(
                "\(product).1", product: product, order: second.id, try evidence("1", seconds: 0))
            #expect(isNamed ? outcome.claimedBy == .anotherOrder : outcome.orderID == second.id)
            let states = [try await world.order(first.id).status, try await world.order(second.id).status]
            #expect(states == (isNamed ? [.paid, .created] : [.created, .paid]))
        }
    }

    @Test("A purchase whose restored copy paid an order pays no other open order when it is seen")
    func copyFirstWithoutNames() async throws {
        let first = try await world.order()
        let second = try await world.order()
        _ = try await world.claim("2", try LedgerWorld.signed("2") { $0.originalTransactionID = "1" })
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        let states = [try await world.order(first.id).status, try await world.order(second.id).status]
        #expect(states == [.paid, .created])
    }

    @Test("A payment without a named order stays with a fulfilled order")
    func namedTooLate() async throws {
        let first = try await world.order(product: LedgerWorld.pro)
        world.clock.advance(seconds: 60)
        let second = try await world.order(product: LedgerWorld.pro)
        let evidence = try LedgerWorld.signed("1", product: LedgerWorld.pro)
        _ = try await world.claim("1", product: LedgerWorld.pro, evidence)
        try await world.fulfil(first.id)
        let outcome = try await world.claim("1", product: LedgerWorld.pro, order: second.id, evidence)
        #expect(outcome.claimedBy == .anotherOrder)
    }

    @Test("A free trial pays the order of its subscription, and the order shows price and offer")
    func freeTrial() async throws {
        let order = try await world.order(product: LedgerWorld.monthly)
        let trial = try LedgerWorld.period("901", from: 0, days: 7) {
            $0.price = 0
            $0.offerType = 1
            $0.offerDiscountType = "FREE_TRIAL"
        }
        let outcome = try await world.claim("901", product: LedgerWorld.monthly, order: order.id, trial)
        #expect(outcome.code == "accepted" && outcome.orderStatus == .paid)
        let paid = try await world.order(order.id)
        #expect(paid.payment?.price?.milliunits == 0 && paid.payment?.offer != nil)
    }

    @Test("A tester's order without an environment also accepts Sandbox; the orders of others do not")
    func testers() async throws {
        func sandbox(_ id: String) throws -> [UInt8] {
            try LedgerWorld.signed(id) { $0.environment = "Sandbox" }
        }
        let plain = try await world.order()
        let refused = try await world.claim("1", order: plain.id, try sandbox("1"))
        #expect(refused.code == "order_environment_mismatch" && refused.disposition == .granted)
        try await world.tester("tess", true)
        let order = try await world.order("tess")
        let paid = try await world.claim("2", customer: "tess", order: order.id, try sandbox("2"))
        #expect(paid.code == "accepted" && paid.orderStatus == .paid)
        let named = try await world.order("tess", environment: .sandbox)
        let third = try sandbox("3")
        #expect(try await world.claim("3", customer: "tess", order: named.id, third).orderStatus == .paid)
    }

    @Test("The order follows the refund of its purchase, also when a copy brings it, and its reversal")
    func refundOfCopy() async throws {
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
                $0.refund(at: $0.purchaseDate)
            })
        #expect(try await world.order(order.id).status == .refunded)
        try await world.observe(
            try period("902") {
                $0.purchaseDate = $0.purchaseDate?.addingTimeInterval(3600)
                $0.signedDate = $0.purchaseDate?.addingTimeInterval(3600)
            })
        #expect(try await world.order(order.id).status == .paid)
    }

    @Test(
        "While an operator's revocation is in force, an order is not fulfilled; after it is lifted, it is",
        arguments: [false, true])
    func revokedByHand(isConsumable: Bool) async throws {
        let product = isConsumable ? LedgerWorld.coins : LedgerWorld.pro
        let order = try await world.order(product: product)
        _ = try await world.claim(
            "1", product: product, order: order.id,
            try LedgerWorld.signed("1", product: product, kind: isConsumable ? .consumable : .nonConsumable))
        let revocation = try await world.revoke("1", of: LedgerWorld.customer)
        let error = await #expect(throws: LedgerRefusal.self) {
            try await world.fulfil(order.id)
        }
        #expect(error?.code == .orderRevoked && error?.found == "1")
        try await world.ledger.perform(LiftByHand(app: "example", customerID: LedgerWorld.customer, id: revocation))
        let fulfilled = try await world.fulfil(order.id)
        #expect(!fulfilled.isReplayed && fulfilled.order.status == .fulfilled)
    }

    @Test("Fulfilling takes the whole lot once; a lot of which part was consumed or refunded is refused")
    func lots() async throws {
        let order = try await world.order(quantity: 3)
        let coins = try LedgerWorld.signed("1") { $0.quantity = 3 }
        _ = try await world.claim("1", order: order.id, coins)
        _ = try await world.consume(1, "a")
        #expect(await refusal { try await world.fulfil(order.id) } == .orderConsumed)
        let second = try await world.order(quantity: 3)
        _ = try await world.claim("2", order: second.id, try LedgerWorld.signed("2") { $0.quantity = 3 })
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await world.fulfil(second.id).isReplayed
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count { !$0 } == 1)
        #expect(try await world.entitlement()?.balance == 2)
    }
}
