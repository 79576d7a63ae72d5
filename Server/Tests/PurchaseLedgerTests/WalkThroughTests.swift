import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// One purchase, one refund and one attack from end to end, and the rows that each writes.
@Suite("Walk-through", .tags(.everyEngine), .ledger)
struct WalkThroughTests {
    let world: LedgerWorld = CurrentWorld.opened()

    @Test("A purchase pays its order, is consumed and refunded: units, shortfall and events follow")
    func purchaseAndRefund() async throws {
        let order = try await world.order(quantity: 10)
        let evidence = try LedgerWorld.signed("1") {
            $0.quantity = 10
            $0.appAccountToken = order.appAccountToken.uuidString.lowercased()
        }
        let outcome = try await world.claim("1", order: order.id, evidence)
        #expect(outcome.code == "accepted" && outcome.disposition == .granted && outcome.orderStatus == .paid)
        #expect(outcome.price?.milliunits == 990 && outcome.entitlement?.balance == 10)
        #expect(try await world.consume(4, "first").balance == 6)
        #expect(try await world.consume(4, "first").replayed)
        let refund = try LedgerWorld.signed("1") {
            $0.quantity = 10
            $0.appAccountToken = order.appAccountToken.uuidString.lowercased()
            $0.refund(at: MintedWorld.moment.addingTimeInterval(7200))
        }
        try await world.observe(refund)
        let entitlement = try #require(try await world.entitlement())
        #expect(entitlement.balance == 0 && entitlement.shortfall == 4)
        #expect(try await world.order(order.id).status == .refunded)
        #expect(
            try await world.events() == [
                "order_created", "granted", "order_paid", "consumed", "revoked", "order_refunded",
            ])
    }

    @Test(
        "Mallory claims Carol's receipt first: Carol's token takes the purchase, and Mallory keeps the shortfall",
        .ledger { $0.sandboxAccess = .everyone })
    func attack() async throws {
        let carol = UUID()
        try await world.assign(carol, to: "carol")
        var purchase = PurchaseTemplate.consumable(
            productID: LedgerWorld.coins, transactionID: "2000000000000001", purchaseDate: MintedWorld.moment)
        purchase.quantity = 5
        let receipt = try LedgerWorld.receipt([purchase])
        let stolen = try await world.claim("2000000000000001", customer: "mallory", receipt)
        #expect(stolen.code == "accepted")
        _ = try await world.consume(5, "m", of: "mallory", environment: .sandbox)
        let signed = try LedgerWorld.signed("2000000000000001") {
            $0.environment = "Sandbox"
            $0.quantity = 5
            $0.appAccountToken = carol.uuidString.lowercased()
        }
        try await world.observe(signed)
        #expect(try await world.entitlement(of: "carol", environment: .sandbox)?.balance == 5)
        let mallory = try #require(try await world.entitlement(of: "mallory", environment: .sandbox))
        #expect(mallory.balance == 0 && mallory.shortfall == 5)
        let again = try await world.claim("2000000000000001", customer: "mallory", receipt)
        #expect(again.code == "app_account_token_mismatch" && again.disposition == .refused)
        #expect(try await world.events().count { $0 == "transferred" } == 2)
    }

    @Test("Forged evidence is recorded with the core's code, and changes nothing")
    func forgery() async throws {
        var evidence = try LedgerWorld.signed("1")
        evidence[evidence.count - 8] = evidence[evidence.count - 8] == 65 ? 66 : 65
        let outcome = try await world.claim("1", evidence)
        #expect(outcome.verdict == .rejected && outcome.code == "signature_invalid" && outcome.disposition == .refused)
        #expect(try await world.events().isEmpty)
        let record = try #require(try await world.submissions().first)
        let id = try #require(UUID(uuidString: record.submissionID))
        #expect(record.code == "signature_invalid")
        let stored = try await world.ledger.answer(EvidenceOfEntry(app: "example", entryID: id))
        #expect(stored?.bytes == evidence && stored?.isWhole == true)
    }
}
