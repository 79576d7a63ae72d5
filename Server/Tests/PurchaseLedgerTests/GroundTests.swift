import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// What other shops give: grounds with a reference, which the backend records.
@Suite("Grounds from outside", .tags(.everyEngine), .ledger)
struct GroundTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private static func day(_ day: Double) -> Timestamp {
        Timestamp(MintedWorld.moment.addingTimeInterval(3600 + day * 86_400))
    }

    @discardableResult
    private static func add(
        _ world: LedgerWorld, _ reference: String = "sub_1", of customer: String = LedgerWorld.customer,
        source: String = "stripe", product: String = LedgerWorld.monthly, until end: Double?
    ) async throws -> GroundMessage {
        try await world.ledger.perform(
            AddGround(
                app: "example", customerID: customer, source: source, reference: reference, productID: product,
                until: end.map(day)))
    }

    private static func grounds(_ world: LedgerWorld, of customer: String = LedgerWorld.customer) async throws
        -> [GroundMessage]
    {
        try await world.ledger.answer(GroundsOfCustomer(app: "example", customerID: customer)).grounds
    }

    @Test(
        "28.4 A ground gives the product until its end, names its shop, and ends by DELETE; repetitions change nothing")
    func life() async throws {
        let first = try await Self.add(world, until: 30)
        #expect(first.replayed == false && first.until == "\(Self.day(30))")
        let again = try await Self.add(world, until: 30)
        #expect(again.replayed == true && again.groundID == first.groundID && again.until == first.until)
        let active = try #require(try await world.entitlement(LedgerWorld.monthly))
        #expect(active.state == .active && active.sources == ["stripe"] && active.until == Self.day(30))
        #expect(active.transactionID == nil)
        // A second shop, and the App Store, give it as well.
        try await Self.add(world, "GPA.1", source: "google_play", until: 40)
        _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
        let both = try await world.entitlement(LedgerWorld.monthly)
        #expect(both?.sources == ["google_play", "stripe"] && both?.until == Self.day(40))
        world.clock.advance(days: 31)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.sources == ["google_play"])
        let google = try #require(try await Self.grounds(world).first { $0.source == "google_play" })
        for _ in 1...2 {
            try await world.end(google.groundID, of: LedgerWorld.customer)
        }
        let ended = try #require(try await world.entitlement(LedgerWorld.monthly))
        #expect(ended.state == .expired && ended.sources.isEmpty)
        #expect(try await Self.grounds(world).map(\.source) == ["google_play", "stripe"])
        #expect(try await Self.grounds(world).first?.endedAt == "\(world.clock.now)")
        let before = try await world.entitlement(LedgerWorld.monthly, at: Self.day(30.5))
        #expect(before?.state == .active && before?.sources == ["google_play"])
        let events = try await world.ledger.answer(EventList(app: "example", limit: 100)).map(\.content)
            .filter { $0.type.hasPrefix("ground_") }
        #expect(events.map(\.type) == ["ground_added", "ground_added", "ground_ended"])
        #expect(events.map(\.reason) == ["stripe", "google_play", "google_play"])
    }

    @Test("28.4 A later end extends, an earlier one is refused with both, and nothing late revives what was ended")
    func mirror() async throws {
        func refusal(_ body: () async throws -> Void) async throws -> LedgerRefusal? {
            do {
                try await body()
                return nil
            } catch let refusal as LedgerRefusal {
                return refusal
            }
        }
        let first = try await Self.add(world, until: 30)
        let extended = try await Self.add(world, until: 60)
        #expect(extended.replayed == false && extended.groundID == first.groundID && extended.since == first.since)
        let earlier = try await refusal { try await Self.add(world, until: 45) }
        #expect(earlier?.code == .groundDiffers && earlier?.expected?.contains("\(Self.day(60))") == true)
        #expect(earlier?.found == "\(Self.day(45))")
        // A late repetition of the first request is none of these.
        let repeated = try await Self.add(world, until: 30)
        #expect(repeated.replayed == true && repeated.until == "\(Self.day(60))")
        let product = try await refusal { try await Self.add(world, product: LedgerWorld.pro, until: 90) }
        #expect(product?.code == .groundDiffers && product?.found?.contains(LedgerWorld.pro) == true)
        let customer = try await refusal { try await Self.add(world, of: "bob", until: 90) }
        #expect(customer?.code == .groundDiffers && customer?.expected?.contains(LedgerWorld.customer) == true)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.until == Self.day(60))
        try await world.end(first.groundID, of: LedgerWorld.customer)
        let late = try await Self.add(world, until: 60)
        #expect(late.replayed == true && late.endedAt != nil)
        let later = try await Self.add(world, until: 30)
        #expect(later.replayed == true && later.endedAt != nil, "the first request, after the end")
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .expired)
        // A plan change at the shop: another product under the same reference.
        world.clock.advance(days: 1)
        let changed = try await Self.add(world, product: LedgerWorld.pro, until: nil)
        #expect(
            changed.replayed == false && changed.groundID != first.groundID && changed.since == "\(world.clock.now)"
        )
        #expect(try await world.entitlement(LedgerWorld.pro)?.sources == ["stripe"])
        // Ending by the first id ends the newest of the reference.
        try await world.end(first.groundID, of: LedgerWorld.customer)
        #expect(try await world.entitlement(LedgerWorld.pro)?.state == .expired)
        // A renewal that arrives after the end begins now, without access in between.
        try await Self.add(world, "sub_2", until: 5)
        world.clock.advance(days: 10)
        try await Self.add(world, "sub_2", until: 40)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .active)
        #expect(try await world.entitlement(LedgerWorld.monthly, at: Self.day(8))?.state == .expired)
    }

    @Test("28.4 A consumable, an unknown product, the App Store as a shop and an end in the past are refused")
    func refused() async throws {
        world.clock.advance(days: 2)
        for (source, product, end, code) in [
            ("stripe", LedgerWorld.coins, 30.0, LedgerRefusal.Code.fieldMalformed),
            ("stripe", "nothing", 30, .productUnknown), ("app_store", LedgerWorld.pro, 30, .fieldMalformed),
            ("Stripe Inc", LedgerWorld.pro, 30, .fieldMalformed), ("", LedgerWorld.pro, 30, .fieldMalformed),
            ("stripe", LedgerWorld.pro, 1, .fieldMalformed),
        ] {
            do {
                try await Self.add(world, source: source, product: product, until: end)
                Issue.record("\(source) \(product) was accepted")
            } catch let refusal as LedgerRefusal {
                #expect(refusal.code == code, "\(source) \(product)")
            }
        }
        #expect(try await Self.grounds(world).isEmpty)
    }

    @Test(
        "28.4 A merge moves grounds, an operator's revocation overrides them, an erasure deletes them, and the reference is free again"
    )
    func mergedAndErased() async throws {
        let ground = try await Self.add(world, of: "guest", until: 30)
        let expired = try await Self.add(world, "sub_9", of: "guest", product: LedgerWorld.pro, until: nil)
        try await world.merge("guest", into: "alice")
        #expect(try await world.entitlement(LedgerWorld.monthly)?.sources == ["stripe"])
        #expect(try await Self.add(world, until: 30).replayed == true)
        #expect(try await Self.add(world, of: "guest", until: 31).groundID == ground.groundID)
        let revocation = try await world.revoke(grant: try UUID(answered: expired.groundID), of: "alice")
        let revoked = try await world.entitlement(LedgerWorld.pro)
        #expect(revoked?.state == .withdrawn && revoked?.sources.isEmpty == true)
        try await world.ledger.perform(LiftByHand(app: "example", customerID: "alice", id: revocation))
        #expect(try await world.entitlement(LedgerWorld.pro)?.state == .active)
        // A ground is no grant of an operator.
        await #expect(throws: LedgerRefusal.self) {
            try await world.ledger.perform(
                LiftByHand(app: "example", customerID: "alice", id: UUID(answered: expired.groundID)))
        }
        try await world.erase("alice")
        #expect(try await Self.grounds(world).isEmpty)
        #expect(try await Self.add(world, of: "bob", until: 20).replayed == false)
    }

    @Test("28.4 Two requests at once for one reference give one ground", arguments: TestEngine.chosen)
    func atOnce(engine: TestEngine) async throws {
        try await engine.withDatabase { open in
            let world = try await LedgerWorld(try open())
            for round in 0..<5 {
                let outcomes = await withTaskGroup(of: Bool?.self) { group in
                    for customer in ["alice", "bob", "alice", "bob"] {
                        group.addTask {
                            do {
                                return try await Self.add(world, "sub_\(round)", of: customer, until: 30).replayed
                            } catch {
                                return nil
                            }
                        }
                    }
                    return await group.reduce(into: [Bool?]()) { $0.append($1) }
                }
                #expect(outcomes.filter { $0 == false }.count == 1 && outcomes.filter { $0 == nil }.count == 2)
            }
            try await world.requireConsistency()
            try await world.database.close()
        }
    }
}
