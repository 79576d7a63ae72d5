import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Open orders that a purchase pays without being named", .ledger)
struct OpenOrderTests {
    let world: LedgerWorld = CurrentWorld.opened()

    @Test("C.9 A purchase that a token transfers pays its customer's open order, as a first owner's does")
    func tokenTransfer() async throws {
        let order = try await world.order()
        _ = try await world.claim("1", customer: "mallory", try LedgerWorld.signed("1"))
        #expect(try await world.order(order.id).status == .created)
        try await world.observe(
            try LedgerWorld.signed("1") { $0.appAccountToken = order.appAccountToken.uuidString.lowercased() })
        #expect(try await world.entitlement()?.balance == 1)
        #expect(try await world.order(order.id).status == .paid)
        #expect(try await world.fulfil(order.id).isReplayed == false)
    }

    @Test("C.9 The order of the former owner is open again, unless it was fulfilled", arguments: [false, true])
    func formerOrder(isFulfilled: Bool) async throws {
        let order = try await world.order()
        let former = try await world.order("mallory")
        _ = try await world.claim("1", customer: "mallory", order: former.id, try LedgerWorld.signed("1"))
        if isFulfilled { _ = try await world.fulfil(former.id) }
        try await world.observe(
            try LedgerWorld.signed("1") { $0.appAccountToken = order.appAccountToken.uuidString.lowercased() })
        // One purchase pays one order.
        let states = [try await world.order(order.id).status, try await world.order(former.id).status]
        #expect(states == (isFulfilled ? [.created, .fulfilled] : [.paid, .created]))
    }

    @Test("C.9 A transfer by a claim or by an operator pays no open order", arguments: [false, true])
    func otherTransfers(isMove: Bool) async throws {
        try await LedgerWorld.with({ $0.transfer = .move }) { world in
            let order = try await world.order("bob", product: LedgerWorld.pro)
            let evidence = try LedgerWorld.signed("1", product: LedgerWorld.pro)
            _ = try await world.claim("1", product: LedgerWorld.pro, evidence)
            if isMove {
                try await world.move("1", to: "bob")
            } else {
                _ = try await world.claim("1", product: LedgerWorld.pro, customer: "bob", evidence)
            }
            #expect(try await world.entitlement(LedgerWorld.pro, of: "bob")?.state == .active)
            #expect(try await world.order(order.id).status == .created)
        }
    }

    @Test(
        "C.9 A purchase that arrives refunded pays its order once Apple reverses the refund", arguments: [false, true])
    func reversal(isClaimed: Bool) async throws {
        let order = try await world.order()
        func coins(signedAfter seconds: Double, isRevoked: Bool) throws -> [UInt8] {
            try LedgerWorld.signed("1") {
                $0.sign($0.signedDate?.addingTimeInterval(seconds), isRevoked: isRevoked)
                if !isClaimed { $0.appAccountToken = order.appAccountToken.uuidString.lowercased() }
            }
        }
        let refunded = try coins(signedAfter: 60, isRevoked: true)
        if isClaimed {
            #expect(try await world.claim("1", refunded).code == "purchase_revoked")
        } else {
            try await world.observe(refunded)
        }
        #expect(try await world.order(order.id).status == .created)
        try await world.observe(try coins(signedAfter: 120, isRevoked: false))
        #expect(try await world.entitlement()?.balance == 1)
        #expect(try await world.order(order.id).status == .paid)
        // A second refund and reversal affect the same order.
        try await world.observe(try coins(signedAfter: 180, isRevoked: true))
        #expect(try await world.order(order.id).status == .refunded)
        try await world.observe(try coins(signedAfter: 240, isRevoked: false))
        #expect(try await world.order(order.id).status == .paid)
    }

    @Test(
        "C.9 An automatic renewal pays no open order; a claim that names the order pays it", arguments: [false, true])
    func renewal(isStated: Bool) async throws {
        _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
        world.clock.advance(days: 30)
        let order = try await world.order(product: LedgerWorld.monthly)
        let renewal = try LedgerWorld.period("902", from: 30) {
            if isStated { $0.transactionReason = "RENEWAL" }
        }
        try await world.observe(renewal)
        _ = try await world.claim("902", product: LedgerWorld.monthly, renewal)
        #expect(try await world.order(order.id).status == .created)
        let named = try await world.claim("902", product: LedgerWorld.monthly, order: order.id, renewal)
        #expect(named.code == "accepted" && named.orderStatus == .paid)
    }

    @Test("C.9 An order that accepts a renewal is paid by one, and the replay agrees")
    func acceptsRenewal() async throws {
        _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
        world.clock.advance(days: 30)
        let plain = try await world.order(product: LedgerWorld.monthly)
        let accepting = try await world.ledger.perform(
            CreateOrder(
                app: "example",
                OrderDraft(customerID: "alice", productID: LedgerWorld.monthly, acceptsRenewal: true))
        ).order
        #expect(accepting.acceptsRenewal && !plain.acceptsRenewal)
        try await world.observe(try LedgerWorld.period("902", from: 30) { $0.transactionReason = "RENEWAL" })
        let states = [try await world.order(plain.id).status, try await world.order(accepting.id).status]
        #expect(states == [.created, .paid])
    }

    @Test("C.9 A subscription that the customer buys again, or in another product, pays an open order")
    func boughtAgain() async throws {
        _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
        world.clock.advance(days: 60)
        let order = try await world.order(product: LedgerWorld.monthly)
        try await world.observe(try LedgerWorld.period("902", from: 60) { $0.transactionReason = "PURCHASE" })
        #expect(try await world.order(order.id).status == .paid)
        let yearly = try await world.order(product: LedgerWorld.yearly)
        try await world.observe(try LedgerWorld.period("903", product: LedgerWorld.yearly, from: 60))
        #expect(try await world.order(yearly.id).status == .paid)
    }

    @Test("C.9 Open orders of another quantity, environment or time do not hide the fitting one")
    func hidden() async throws {
        for _ in 0..<17 { _ = try await world.order(quantity: 2) }
        for _ in 0..<17 { _ = try await world.order(environment: .sandbox) }
        let order = try await world.order()
        world.clock.advance(seconds: 900)
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        #expect(try await world.order(order.id).status == .paid)
    }

    @Test("C.9 Twenty purchases of one receipt pay twenty open orders")
    func manyPurchases() async throws {
        try await world.tester("alice", true)
        for _ in 0..<20 { _ = try await world.order() }
        let bought = MintedWorld.moment.addingTimeInterval(3600)
        let receipt = try LedgerWorld.receipt(
            (1...20).map {
                .consumable(productID: LedgerWorld.coins, transactionID: "\($0)", purchaseDate: bought)
            })
        try await world.restore(of: "alice", [receipt])
        let paid = try await world.ledger.answer(OrderList(app: "example", status: .paid, limit: 100)).entries
        #expect(paid.count == 20)
    }
}
