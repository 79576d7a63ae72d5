import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("A claim that names an order pays no other order")
struct NamedOrderReplayTests {
    /// O1 and O2 of `monthly`, a signed period A with the customer's token, then a receipt with A and its renewal B
    /// that names O2. The receipt has no token, so the claim does not bind.
    private func payByReceipt(_ world: LedgerWorld) async throws -> (first: Order, second: Order) {
        // Period A is bought before the orders, so it pays none of them.
        let evidence = try LedgerWorld.period("901", from: 0, days: 1) {
            $0.appAccountToken = "00000000-0000-0000-0000-000000000001"
            // Minted receipts are of the sandbox.
            $0.environment = "Sandbox"
        }
        _ = try await world.ledger.perform(
            AssignToken(
                app: "example", customerID: "alice",
                token: UUID(uuidString: "00000000-0000-0000-0000-000000000001") ?? UUID()))
        _ = try await world.claim("901", product: LedgerWorld.monthly, evidence)
        world.clock.advance(seconds: 3600)
        let first = try await world.order(product: LedgerWorld.monthly)
        world.clock.advance(seconds: 60)
        let second = try await world.order(product: LedgerWorld.monthly)
        world.clock.advance(seconds: 60)
        let purchases = [("901", 0.0), ("902", 1.0)].map { id, start in
            var purchase = PurchaseTemplate(
                productID: LedgerWorld.monthly, transactionID: id,
                purchaseDate: id == "901"
                    ? MintedWorld.moment.addingTimeInterval(3600)
                    : MintedWorld.moment.addingTimeInterval(2 * 3600 + 90))
            purchase.productType = .autoRenewableSubscription
            purchase.originalTransactionID = "900"
            purchase.originalPurchaseDate = MintedWorld.moment.addingTimeInterval(3600)
            purchase.expiresDate = purchase.purchaseDate?.addingTimeInterval((start + 1) * 86_400)
            return purchase
        }
        let receipt = try LedgerWorld.receipt(purchases)
        let outcome = try await world.claim("902", product: LedgerWorld.monthly, order: second.id, receipt)
        #expect(outcome.code == "accepted")
        return (first, second)
    }

    @Test("A.5 A receipt that names an order pays that order, live and in the replay")
    func replay() async throws {
        try await LedgerWorld.with { app in
            app.requiresSignedTransaction = true
            app.sandboxAccess = .everyone
        } _: { world in
            let (first, second) = try await payByReceipt(world)
            #expect(try await world.order(second.id).status == .paid)
            #expect(try await world.order(first.id).status == .created)
            try await world.requireConsistency()
        }
    }
}
