import EvidenceMint
import PurchaseLedger
import Testing

@Suite("The claims of one transaction that count")
struct ClaimBoundTests {
    var world: LedgerWorld { CurrentWorld.opened() }

    @Test(
        "A receipt claimed under ever new names adds no act beyond the limit, and keeps its owner, even under move",
        .ledger({ $0.transfer = .move }))
    func bounded() async throws {
        let most = OwnershipAct.claimsOfOneTransaction
        let evidence = try LedgerWorld.signed("1", product: LedgerWorld.pro)
        for number in 1...(most + 5) {
            let outcome = try await world.claim("1", customer: "customer-\(number)", evidence)
            #expect(outcome.code == (number <= most ? "accepted" : "already_claimed"), "claim \(number)")
        }
        let acts = try await world.database.read(.keys) {
            try $0.rows("SELECT count(*) FROM ownership_acts", []).first?.values
        }
        #expect(acts == [.integer(Int64(most))])
        #expect(try await world.entitlement(LedgerWorld.pro, of: "customer-\(most)")?.state == .active)
        #expect(try await world.entitlement(LedgerWorld.pro, of: "customer-\(most + 1)")?.state != .active)
        // An operator can still transfer it to its rightful owner.
        try await world.move("1", to: "customer-\(most + 1)")
        #expect(try await world.entitlement(LedgerWorld.pro, of: "customer-\(most + 1)")?.state == .active)
    }
}
