import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Sandbox purchases count by one rule")
struct CountedEntitlementTests {
    /// A consumable, a non-consumable, a subscription and a pass of one environment.
    private func evidence(_ environment: AppStoreEnvironment) throws -> [(id: String, product: String, bytes: [UInt8])]
    {
        let name = environment.name
        return [
            (
                "1", LedgerWorld.coins,
                try LedgerWorld.signed("1") { ($0.environment, $0.quantity) = (name, 5) }
            ),
            (
                "2", LedgerWorld.pro,
                try LedgerWorld.signed("2", product: LedgerWorld.pro, kind: .nonConsumable) { $0.environment = name }
            ),
            (
                "901", LedgerWorld.monthly, try LedgerWorld.period("901", from: 0) { $0.environment = name }
            ),
            (
                "4", LedgerWorld.pass,
                try LedgerWorld.signed("4", product: LedgerWorld.pass, kind: .nonRenewingSubscription) {
                    $0.environment = name
                }
            ),
        ]
    }

    private func events(_ world: LedgerWorld) async throws -> [EventContent] {
        try await world.ledger.answer(EventList(app: "example", limit: 1000)).map(\.content)
    }

    @Test(
        "C.1 Claim, restore, consumption, GET and events agree for every environment, tester and policy",
        arguments: [AppStoreEnvironment.production, .sandbox], SandboxAccess.allCases)
    func agreement(environment: AppStoreEnvironment, policy: SandboxAccess) async throws {
        for isTester in [false, true] {
            try await LedgerWorld.with {
                $0.sandboxAccess = policy
            } _: { world in
                if isTester {
                    _ = try await world.ledger.perform(
                        ChangeTester(app: "example", customerID: "alice", isTester: true))
                }
                let counts = policy.counts(environment, isTester: isTester)
                let evidence = try evidence(environment)
                for (id, product, bytes) in evidence {
                    let outcome = try await world.claim(id, product: product, bytes)
                    #expect(outcome.code == "accepted" && outcome.disposition == .granted)
                    let shown = try await world.entitlement(product)
                    #expect(outcome.entitlement == shown)
                    #expect(shown?.state == (counts ? .active : .pending))
                    #expect(shown?.reason == (counts ? nil : .sandboxNotAccepted))
                    #expect(shown?.balance == (counts && product == LedgerWorld.coins ? 5 : 0))
                }
                let restored = try await world.ledger.perform(
                    RestorePurchases(
                        world.ledger.examine(
                            RestoreSubmission(app: "example", customerID: "alice", evidence: evidence.map(\.bytes)))))
                let listed = try await world.ledger.answer(
                    EntitlementsOfCustomer(app: "example", customerID: "alice"))
                #expect(restored.entitlements == listed.entitlements)
                #expect(restored.purchases.allSatisfy { $0.code == "accepted" })
                #expect(listed.named.allSatisfy { $0.isActive == counts })
                if counts {
                    let taken = try await world.consume(2, "named", environment: environment)
                    #expect(taken.balance == 3)
                    #expect(try await world.entitlement()?.balance == 3)
                } else {
                    for named in [environment, nil] {
                        await #expect(throws: LedgerRefusal.self) {
                            try await world.consume(1, "none", environment: named)
                        }
                    }
                }
                for event in try await events(world) where event.type != "token_assigned" {
                    #expect(event.counts == counts, "\(event)")
                    if !counts { #expect(event.balance ?? 0 == 0, "\(event)") }
                }
            }
        }
    }

    @Test("C.1 An order that names the sandbox gives somebody who is no tester nothing")
    func orders() async throws {
        try await LedgerWorld.with { world in
            let order = try await world.order(environment: .sandbox)
            let evidence = try LedgerWorld.signed("1") { $0.environment = "Sandbox" }
            let refused = try await world.claim("1", order: order.id, evidence)
            #expect(refused.code == "order_environment_mismatch")
            #expect(try await world.order(order.id).status == .created)
            _ = try await world.ledger.perform(ChangeTester(app: "example", customerID: "alice", isTester: true))
            let paid = try await world.claim("1", order: order.id, evidence)
            #expect(paid.code == "accepted" && paid.orderStatus == .paid)
            _ = try await world.ledger.perform(ChangeTester(app: "example", customerID: "alice", isTester: false))
            do {
                _ = try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id))
                Issue.record("the order was fulfilled")
            } catch let refusal as LedgerRefusal {
                #expect(refusal.code == .orderEnvironmentMismatch)
            }
            _ = try await world.ledger.perform(ChangeTester(app: "example", customerID: "alice", isTester: true))
            _ = try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id))
        }
    }
}
