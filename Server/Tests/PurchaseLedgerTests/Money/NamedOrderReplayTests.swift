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

    @Test("A.5 A repair refuses to pay a second order with the purchase of a fulfilled one")
    func repair() async throws {
        try await TestEngine.withDatabases { database in
            let world = try await LedgerWorld(database)
            let order = try await world.order()
            let evidence = try LedgerWorld.signed("1") {
                $0.purchaseDate = MintedWorld.moment.addingTimeInterval(3600)
            }
            _ = try await world.claim("1", order: order.id, evidence)
            _ = try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id))
            world.clock.advance(seconds: 60)
            let other = try await world.order()
            // The tables say that the purchase of the first order paid the second, which is fulfilled.
            try await world.database.write { connection in
                let columns = try connection.rows("SELECT paid_by FROM orders WHERE paid_by IS NOT NULL", [])
                let paying = try #require(columns.first?.values.first)
                try connection.execute("UPDATE orders SET status = 'created', paid_by = NULL", [])
                try connection.execute(
                    "UPDATE orders SET status = 'fulfilled', paid_by = ?1 WHERE order_key = (SELECT max(order_key) FROM orders)",
                    [paying])
            }
            await #expect(throws: LedgerStorageError.self) { _ = try await world.ledger.repair() }
            #expect(try await world.order(other.id).status == .fulfilled)
        }
    }
}
