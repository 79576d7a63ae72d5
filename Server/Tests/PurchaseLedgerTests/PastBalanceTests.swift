import EvidenceMint
import PurchaseLedger
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
}
