import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("The balance in events is the one that entitlements show")
struct EventBalanceTests {
    @Test("After every act on a consumable", arguments: [RefundShortfallPolicy.forgive, .debt])
    func everyAct(policy: RefundShortfallPolicy) async throws {
        try await LedgerWorld.with {
            $0.refundShortfall = policy
        } _: { world in
            func requireAgreement() async throws {
                let event = try await world.ledger.answer(EventList(app: "example", limit: 100_000)).last
                let last = try #require(event).content
                let entitlement = try #require(try await world.entitlement())
                #expect(last.balance == entitlement.balance, "\(last)")
                #expect(last.shortfall == entitlement.shortfall, "\(last)")
            }
            _ = try await world.claim("1", try LedgerWorld.signed("1") { $0.quantity = 5 })
            try await requireAgreement()
            _ = try await world.consume(3, "a")
            try await requireAgreement()
            let order = try await world.order()
            _ = try await world.claim("2", order: order.id, try LedgerWorld.signed("2"))
            _ = try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id))
            try await requireAgreement()
            try await world.observe(
                try LedgerWorld.signed("1") {
                    $0.quantity = 5
                    $0.signedDate = $0.purchaseDate?.addingTimeInterval(60)
                    $0.revocationDate = $0.signedDate
                })
            try await requireAgreement()
            _ = try await world.claim("3", try LedgerWorld.signed("3") { $0.quantity = 4 })
            try await requireAgreement()
            let revocation = try await world.ledger.perform(
                RevokeByHand(
                    app: "example", customerID: LedgerWorld.customer,
                    .purchase(transactionID: "3", environment: nil), reason: "test"))
            try await requireAgreement()
            try await world.ledger.perform(
                LiftByHand(app: "example", customerID: LedgerWorld.customer, id: revocation, reason: "test"))
            try await requireAgreement()
        }
    }
}
