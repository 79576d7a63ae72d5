import EvidenceMint
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Balances at a past time")
struct PastBalanceTests {
    @Test("has no shortfall before the use of a lot that now belongs to another customer")
    func transferredLot() async throws {
        try await LedgerWorld.with { world in
            _ = try await world.claim("1", try LedgerWorld.signed("1") { $0.quantity = 10 })
            world.clock.advance(days: 1)
            let before = world.clock.now
            world.clock.advance(days: 1)
            _ = try await world.consume(4, "first")
            _ = try await world.ledger.perform(
                MovePurchase(app: "example", transactionID: "1", to: "bob", reason: "the customer asked for it"))
            world.clock.advance(days: 1)
            #expect(try await world.entitlement()?.shortfall == 4)
            let past = try #require(try await world.entitlement(at: before))
            #expect(past.balance == 0 && past.shortfall == 0)
            #expect(past.reason == .ownedByAnother)
            #expect(try await world.entitlement(of: "bob", at: before)?.balance == 10)
        }
    }

    @Test("C.8 has the units that were not yet delivered with an order, or by an import")
    func delivered() async throws {
        try await LedgerWorld.with { world in
            let order = try await world.order(quantity: 3)
            _ = try await world.claim("1", order: order.id, try LedgerWorld.signed("1") { $0.quantity = 3 })
            world.clock.advance(days: 1)
            _ = try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id, units: 2))
            let between = world.clock.now
            world.clock.advance(days: 1)
            let row = ImportSubmission(customerID: "alice", evidence: [try LedgerWorld.signed("2")])
            _ = try await world.ledger.perform(
                ImportPurchases(
                    app: "example", isAnnounced: false, consumables: .delivered,
                    [world.ledger.examine(row, app: "example")]))
            _ = try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id, units: 1))
            #expect(try await world.entitlement(at: world.clock.now)?.balance == 0)
            // The import's purchase was made before, and nobody has used it until then.
            #expect(try await world.entitlement(at: between)?.balance == 2)
            let paid = Timestamp(millisecondsSince1970: between.millisecondsSince1970 - 3_600_000)
            #expect(try await world.entitlement(at: paid)?.balance == 4)
        }
    }
}
