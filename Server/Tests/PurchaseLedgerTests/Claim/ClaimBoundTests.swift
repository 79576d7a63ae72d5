import EvidenceMint
import PurchaseLedger
import Testing

@Suite("The claims of one transaction that count")
struct ClaimBoundTests {
    @Test("A receipt claimed under ever new names adds no act beyond the limit, and keeps its owner, even under move")
    func bounded() async throws {
        try await LedgerWorld.with({ $0.transfer = .move }) { world in
            let most = OwnershipAct.claimsOfOneTransaction
            let evidence = try LedgerWorld.signed("1", product: LedgerWorld.pro, kind: .nonConsumable)
            for number in 1...(most + 5) {
                let outcome = try await world.claim(
                    "1", product: LedgerWorld.pro, customer: "customer-\(number)", evidence)
                #expect(outcome.code == (number <= most ? "accepted" : "already_claimed"), "claim \(number)")
            }
            let acts = try await world.database.read(.keys) {
                try $0.rows("SELECT count(*) FROM ownership_acts", []).first?.values
            }
            #expect(acts == [.integer(Int64(most))])
            #expect(
                try await world.entitlement(LedgerWorld.pro, of: "customer-\(most)")?.state == .active)
            #expect(try await world.entitlement(LedgerWorld.pro, of: "customer-\(most + 1)")?.state != .active)
            // An operator can still transfer it to its rightful owner.
            _ = try await world.ledger.perform(
                MovePurchase(app: "example", transactionID: "1", to: "customer-\(most + 1)", reason: "wrong account"))
            #expect(try await world.entitlement(LedgerWorld.pro, of: "customer-\(most + 1)")?.state == .active)
        }
    }
}
