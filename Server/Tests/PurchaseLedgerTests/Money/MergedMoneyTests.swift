import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// What merges, transfers and erasures leave of balances, grounds and revocations.
@Suite("Money after a merge, a transfer or an erasure")
struct MergedMoneyTests {
    private static func merge(_ world: LedgerWorld, _ customer: String, into other: String) async throws {
        _ = try await world.ledger.perform(MergeCustomers(app: "example", customerID: customer, into: other))
    }

    private static func revoke(_ world: LedgerWorld, _ transaction: String, of customer: String) async throws -> UUID {
        try await world.ledger.perform(
            RevokeByHand(
                app: "example", customerID: customer, .purchase(transactionID: transaction, environment: nil),
                reason: "chargeback"))
    }

    private static func erase(_ world: LedgerWorld, _ customer: String) async throws {
        _ = try await world.ledger.perform(EraseCustomer(app: "example", customerID: customer, reason: "asked"))
    }

    @Test("33.1 Deliveries, imports and consumptions with the same id count at past times after merges")
    func pastBalance() async throws {
        try await LedgerWorld.with { world in
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
    }

    @Test("33.1 A customer with a used up balance who is merged leaves the entitlement to the other")
    func emptyBalance() async throws {
        try await LedgerWorld.with { world in
            _ = try await world.claim("1", try LedgerWorld.signed("1") { $0.quantity = 2 })
            _ = try await world.consume(2, "all")
            try await Self.merge(world, "alice", into: "bob")
            let left = try #require(try await world.entitlement(of: "bob"))
            #expect(left.balance == 0 && left.reason == .consumed)
        }
    }

    @Test("28.4 A late repetition for a ground of a merged customer neither revives nor refuses it")
    func ground() async throws {
        try await LedgerWorld.with { world in
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
            try await world.ledger.perform(
                EndGround(app: "example", customerID: "alice", id: try UUID(answered: ground.groundID)))
            #expect(try await add(days: 30).replayed == true)
            #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .expired)
        }
    }

    @Test(
        "30 The erasure of a member whose copy was revoked takes nothing from the others",
        arguments: ["ASSIGNED", "FAMILY_SHARED"])
    func erasedMember(type: String) async throws {
        try await LedgerWorld.with { world in
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
    }

    @Test("33.1 A revocation follows the purchase: its new owner lifts it, also after the erasure of the former one")
    func liftAfterMove() async throws {
        for isErased in [false, true] {
            try await LedgerWorld.with { world in
                _ = try await world.claim(
                    "1", product: LedgerWorld.pro,
                    try LedgerWorld.signed("1", product: LedgerWorld.pro, kind: .nonConsumable))
                let id = try await Self.revoke(world, "1", of: "alice")
                await #expect(throws: LedgerRefusal.self) {
                    try await world.ledger.perform(LiftByHand(app: "example", customerID: "bob", id: id))
                }
                _ = try await world.ledger.perform(
                    MovePurchase(app: "example", transactionID: "1", to: "bob", reason: "asked"))
                if isErased { try await Self.erase(world, "alice") }
                #expect(try await world.entitlement(LedgerWorld.pro, of: "bob")?.state == .withdrawn)
                try await world.ledger.perform(LiftByHand(app: "example", customerID: "bob", id: id))
                #expect(try await world.entitlement(LedgerWorld.pro, of: "bob")?.state == .active)
            }
        }
    }
}
