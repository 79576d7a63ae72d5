import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// What merges, transfers and erasures leave of balances, grounds and revocations.
@Suite("Money after a merge, a transfer or an erasure", .ledger)
struct MergedMoneyTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private static func merge(_ world: LedgerWorld, _ customer: String, into other: String) async throws {
        try await world.merge(customer, into: other)
    }

    private static func revoke(_ world: LedgerWorld, _ transaction: String, of customer: String) async throws -> UUID {
        try await world.revoke(transaction, of: customer)
    }

    private static func erase(_ world: LedgerWorld, _ customer: String) async throws {
        try await world.erase(customer)
    }

    @Test("33.1 Deliveries, imports and consumptions with the same id count at past times after merges")
    func pastBalance() async throws {
        for (index, customer) in ["alice", "bob", "carol"].enumerated() {
            let order = try await world.order(customer, quantity: 5)
            _ = try await world.claim(
                "1\(index)", customer: customer, order: order.id,
                try LedgerWorld.signed("1\(index)") { $0.quantity = 5 })
            world.clock.advance(seconds: 60)
            _ = try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id, units: 2))
            _ = try await world.consume(1, "same id", of: customer)
            let row = ImportSubmission(customerID: customer, evidence: [try LedgerWorld.signed("2\(index)")])
            _ = try await world.ledger.perform(
                ImportPurchases(
                    app: "example", isAnnounced: false, consumables: .delivered,
                    [world.ledger.examine(row, app: "example")]))
        }
        try await Self.merge(world, "alice", into: "bob")
        try await Self.merge(world, "bob", into: "carol")
        world.clock.advance(seconds: 60)
        #expect(try await world.entitlement(of: "carol")?.balance == 6)
        #expect(try await world.entitlement(of: "carol", at: world.clock.now)?.balance == 6)
        #expect(try await world.entitlement(of: "alice", at: world.clock.now)?.balance == 6)
    }

    @Test("33.1 A customer with a used up balance who is merged leaves the entitlement to the other")
    func emptyBalance() async throws {
        _ = try await world.claim("1", try LedgerWorld.signed("1") { $0.quantity = 2 })
        _ = try await world.consume(2, "all")
        try await Self.merge(world, "alice", into: "bob")
        let left = try #require(try await world.entitlement(of: "bob"))
        #expect(left.balance == 0 && left.reason == .consumed)
    }

    @Test("28.4 A late repetition for a ground of a merged customer neither revives nor refuses it")
    func ground() async throws {
        // However many customers were merged before.
        for number in 1...70 {
            _ = try await world.order("device-\(number)")
            try await Self.merge(world, "device-\(number)", into: "alice")
        }
        func add(days: Int64) async throws -> GroundMessage {
            try await world.ledger.perform(
                AddGround(
                    app: "example", customerID: "guest", source: "stripe", reference: "sub_1",
                    productID: LedgerWorld.monthly,
                    until: Timestamp(MintedWorld.moment).adding(milliseconds: 86_400_000, times: days)))
        }
        let ground = try await add(days: 30)
        _ = try await add(days: 60)
        try await Self.merge(world, "guest", into: "alice")
        let late = try await add(days: 30)
        #expect(late.replayed == true && late.groundID == ground.groundID)
        try await world.end(ground.groundID, of: "alice")
        #expect(try await add(days: 30).replayed == true)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .expired)
    }

    @Test(
        "30 The erasure of a member whose copy was revoked takes nothing from the others",
        arguments: ["ASSIGNED", "FAMILY_SHARED"])
    func erasedMember(type: String) async throws {
        for (id, customer) in [("902", "bob"), ("903", "carol")] {
            let evidence = try LedgerWorld.period(id, from: 0) {
                $0.inAppOwnershipType = type
                $0.appTransactionID = "download of \(customer)"
            }
            _ = try await world.claim(id, product: LedgerWorld.monthly, customer: customer, evidence)
        }
        _ = try await Self.revoke(world, "902", of: "bob")
        #expect(try await world.entitlement(LedgerWorld.monthly, of: "bob")?.state == .withdrawn)
        try await Self.erase(world, "bob")
        #expect(try await world.entitlement(LedgerWorld.monthly, of: "carol")?.state == .active)
    }

    @Test("33.1 A revocation follows the purchase: its new owner lifts it, also after the erasure of the former one")
    func liftAfterMove() async throws {
        for isErased in [false, true] {
            try await LedgerWorld.with { world in
                _ = try await world.claim("1", try LedgerWorld.signed("1", product: LedgerWorld.pro))
                let id = try await Self.revoke(world, "1", of: "alice")
                await #expect(throws: LedgerRefusal.self) {
                    try await world.ledger.perform(LiftByHand(app: "example", customerID: "bob", id: id))
                }
                try await world.move("1", to: "bob")
                if isErased { try await Self.erase(world, "alice") }
                #expect(try await world.entitlement(LedgerWorld.pro, of: "bob")?.state == .withdrawn)
                try await world.ledger.perform(LiftByHand(app: "example", customerID: "bob", id: id))
                #expect(try await world.entitlement(LedgerWorld.pro, of: "bob")?.state == .active)
            }
        }
    }
}

@Suite("Sandbox purchases count by one rule")
struct CountedEntitlementTests {
    var world: LedgerWorld { CurrentWorld.opened() }

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
                try LedgerWorld.signed("2", product: LedgerWorld.pro) { $0.environment = name }
            ),
            (
                "901", LedgerWorld.monthly, try LedgerWorld.period("901", from: 0) { $0.environment = name }
            ),
            (
                "4", LedgerWorld.pass,
                try LedgerWorld.signed("4", product: LedgerWorld.pass) {
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
            try await LedgerWorld.with({ $0.sandboxAccess = policy }) { world in
                if isTester {
                    try await world.tester("alice", true)
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
                let listed = try await world.entitlements(of: "alice")
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

    @Test("C.1 An order that names the sandbox gives somebody who is no tester nothing", .ledger)
    func orders() async throws {
        let order = try await world.order(environment: .sandbox)
        let evidence = try LedgerWorld.signed("1") { $0.environment = "Sandbox" }
        let refused = try await world.claim("1", order: order.id, evidence)
        #expect(refused.code == "order_environment_mismatch")
        #expect(try await world.order(order.id).status == .created)
        try await world.tester("alice", true)
        let paid = try await world.claim("1", order: order.id, evidence)
        #expect(paid.code == "accepted" && paid.orderStatus == .paid)
        try await world.tester("alice", false)
        do {
            try await world.fulfil(order.id)
            Issue.record("the order was fulfilled")
        } catch let refusal as LedgerRefusal {
            #expect(refusal.code == .orderEnvironmentMismatch)
        }
        try await world.tester("alice", true)
        try await world.fulfil(order.id)
    }
}
