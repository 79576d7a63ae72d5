import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Claims that name an order of somebody else than the owner of the purchase.
@Suite("A claim for an order of somebody else changes nothing for anybody", .ledger)
struct StrangersOrderTests {
    let world: LedgerWorld = CurrentWorld.opened()

    /// Coins that alice bought with the token of her order.
    private func coins(of order: Order, _ id: String = "1") throws -> [UInt8] {
        try LedgerWorld.signed(id) { $0.appAccountToken = order.appAccountToken.uuidString.lowercased() }
    }

    /// A claim that names only an order, so that it is of the order's customer.
    private func claim(
        _ id: String = "1", product: String = LedgerWorld.coins, for order: Order, _ evidence: [UInt8],
        _ world: LedgerWorld
    ) async throws -> PurchaseOutcome {
        try await world.claim(id, product: product, customer: nil, order: order.id, evidence)
    }

    @Test("A.4 A stranger's refused claim does not keep the owner's order from being paid", arguments: [false, true])
    func stranger(isFirst: Bool) async throws {
        let own = try await world.order()
        let foreign = try await world.order("mallory")
        let evidence = try coins(of: own)
        if !isFirst { #expect(try await world.claim("1", evidence).code == "accepted") }
        let refused = try await claim(for: foreign, evidence, world)
        #expect(refused.code == "app_account_token_mismatch" && refused.disposition == .refused)
        #expect(refused.orderID == nil && refused.entitlement == nil)
        let outcome = try await world.claim("1", evidence)
        #expect(outcome.code == "accepted" && outcome.orderID == own.id)
        #expect(try await world.order(own.id).status == .paid)
        #expect(try await world.order(foreign.id).status == .created)
        #expect(try await world.events().filter { $0 == "order_paid" }.count == 1)
        try await world.fulfil(own.id)
    }

    @Test("A.4 The order of a refused claim pays nothing and keeps nothing, also once its customer owns the purchase")
    func laterOwner() async throws {
        let first = try await world.order("mallory")
        world.clock.advance(seconds: 60)
        let named = try await world.order("mallory")
        let own = try await world.order()
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        #expect(try await world.order(own.id).status == .paid)
        #expect(try await claim(for: named, try LedgerWorld.signed("1"), world).claimedBy == .anotherCustomer)
        // A token says that Mallory bought it. It pays the order that Mallory's claim named, as it does when the
        // token is known first.
        try await world.observe(try coins(of: named))
        let states = [
            try await world.order(own.id).status, try await world.order(first.id).status,
            try await world.order(named.id).status,
        ]
        #expect(states == [.created, .created, .paid])
    }

    @Test("A.4 A claim of a copy by a stranger keeps the purchase from nothing, and a held purchase stays free")
    func copyAndHeld() async throws {
        try await LedgerWorld.with({ $0.requiresAccountToken = true }) { world in
            let own = try await world.order(product: LedgerWorld.monthly)
            let foreign = try await world.order("mallory", product: LedgerWorld.monthly)
            func period(_ id: String, token: UUID? = nil) throws -> [UInt8] {
                try LedgerWorld.period(id, from: 0) {
                    $0.webOrderLineItemID = "77"
                    $0.appAccountToken = token?.uuidString.lowercased()
                }
            }
            let held = try await claim("902", product: LedgerWorld.monthly, for: foreign, try period("902"), world)
            #expect(held.code == "account_token_needed")
            try await world.observe(try period("901", token: own.appAccountToken))
            #expect(try await world.order(own.id).status == .paid)
            #expect(try await world.order(foreign.id).status == .created)
        }
    }

    /// Alice has an open order; carol's order is named by a claim of alice's purchase, and carol is erased.
    private func erase(_ world: LedgerWorld, isClaimedFirst: Bool) async throws -> (own: Order, foreign: Order) {
        let own = try await world.order()
        let foreign = try await world.order("carol")
        let evidence = try coins(of: own)
        if isClaimedFirst { _ = try await world.claim("1", order: own.id, evidence) }
        let refused = try await claim(for: foreign, evidence, world)
        #expect(refused.code == "app_account_token_mismatch" && refused.disposition == .refused)
        #expect(try await world.claim("1", order: foreign.id, evidence).code == "order_of_another_customer")
        try await world.erase("carol")
        return (own, foreign)
    }

    @Test(
        "A.2 After a claim with somebody else's order and the erasure of that customer, the audit is clean",
        arguments: [false, true])
    func erasure(isClaimedFirst: Bool) async throws {
        let (own, _) = try await erase(world, isClaimedFirst: isClaimedFirst)
        #expect(try await world.order(own.id).status == .paid)
        try await world.requireConsistency()
        // The purchase is alice's, whatever follows.
        let again = try await world.claim("1", order: own.id, try coins(of: own))
        #expect(again.code == "accepted" && again.orderStatus == .paid)
    }

    @Test(
        "A.2 A rebuild after that erasure gives the tables again",
        .enabled(if: TestEngine.ownsTables), arguments: [false, true])
    func rebuild(isClaimedFirst: Bool) async throws {
        let (own, _) = try await erase(world, isClaimedFirst: isClaimedFirst)
        let before = try await DatabaseContent(world.database)
        try await world.rebuilt { rebuilt in
            #expect(try await rebuilt.order(own.id).status == .paid)
            let changed = Set(try await DatabaseContent(rebuilt.database).differences(from: before))
            // No entry is left that assigned the token of the erased customer, so a rebuild names none.
            #expect(changed.isSubset(of: ["account_tokens"]), "\(changed)")
        }
    }

    @Test(
        "A.2 An order that was delivered keeps its purchase until its customer is erased, whoever owns the purchase then",
        arguments: [false, true])
    func delivered(isNamed: Bool) async throws {
        let foreign = try await world.order("mallory")
        let own = try await world.order()
        _ = try await world.claim(
            "1", customer: "mallory", order: isNamed ? foreign.id : nil, try LedgerWorld.signed("1"))
        try await world.fulfil(foreign.id)
        world.clock.advance(seconds: 60)
        try await world.observe(try coins(of: own))
        let before = try await world.claim("1", order: own.id, try coins(of: own))
        #expect(before.claimedBy == .anotherOrder)
        #expect(try await world.order(own.id).status == .created)
        try await world.erase("mallory")
        try await world.requireConsistency()
        #expect(try await world.order(own.id).status == .created)
        #expect(try await world.claim("1", order: own.id, try coins(of: own)).orderStatus == .paid)
    }

    @Test("A.2 The same with a held purchase, a copy, and a purchase that an operator transferred")
    func otherPurchases() async throws {
        let own = try await world.order(product: LedgerWorld.monthly)
        let foreign = try await world.order("carol", product: LedgerWorld.monthly)
        func period(_ id: String, token: UUID? = nil) throws -> [UInt8] {
            try LedgerWorld.period(id, from: 0) {
                $0.webOrderLineItemID = "77"
                $0.appAccountToken = token?.uuidString.lowercased()
            }
        }
        try await world.observe(try period("901", token: own.appAccountToken))
        let refused = try await claim("902", product: LedgerWorld.monthly, for: foreign, try period("902"), world)
        #expect(refused.code == "already_claimed" && refused.claimedBy == .anotherCustomer)
        // Bob's purchase pays carol's order after a transfer by the token, and carol's claim came before it.
        let bobs = try await world.order("bob")
        _ = try await world.claim("1", customer: "bob", order: bobs.id, try LedgerWorld.signed("1"))
        let coins = try await world.order("carol")
        #expect(try await claim(for: coins, try LedgerWorld.signed("1"), world).claimedBy == .anotherCustomer)
        try await world.move("1", to: "dora")
        try await world.erase("carol")
        #expect(try await world.order(own.id).status == .paid)
        #expect(try await world.order(bobs.id).status == .created)
    }
}
