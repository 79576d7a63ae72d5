import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

extension Trait where Self == WorldTrait<LedgerWorld> {
    static func seats(_ count: Int64) -> Self {
        WorldTrait { body in try await SeatClaimTests.with(seats: count, { _ in }, body) }
    }
}

/// Claims of seats of a subscription whose members the backend invites.
@Suite("Claimed seats", .seats(3))
struct SeatClaimTests {
    let world: LedgerWorld = CurrentWorld.opened()
    var folder: URL { CurrentWorld.opened() }

    private static let monthly = LedgerWorld.monthly
    private static let members = ["bob", "carol", "dave", "erin"]

    /// A world in which alice has bought seats for a month.
    static func with(
        seats: Int64, _ change: (inout RegisteredApp) -> Void = { _ in }, _ body: (LedgerWorld) async throws -> Void
    ) async throws {
        try await LedgerWorld.with(change) { world in
            _ = try await world.claim(
                "900", product: monthly, try MintedWorld.mint(try SeatCountTests.team("900", seats, from: 0)))
            try await body(world)
        }
    }

    @discardableResult
    static func claim(
        _ world: LedgerWorld, _ customer: String, request: String? = nil, seat: String? = nil
    ) async throws -> SeatMessage {
        try await world.ledger.perform(
            ClaimSeat(
                app: "example", originalTransactionID: "900", customerID: customer,
                requestID: request ?? "request of \(customer)", appTransactionID: "download of \(customer)",
                seatID: seat))
    }

    static func unclaim(_ world: LedgerWorld, _ seat: String) async throws {
        try await world.ledger.perform(UnclaimSeat(app: "example", originalTransactionID: "900", seatID: seat))
    }

    static func list(_ world: LedgerWorld, limit: Int = 100) async throws -> SeatsOfSubscription.Answer {
        try await world.ledger.answer(SeatsOfSubscription(app: "example", originalTransactionID: "900", limit: limit))
    }

    /// What the App Store tells about seats whose claims end.
    static func unclaimSeats(
        _ ids: [String], on day: Double, environment: String = "Production"
    ) throws -> [UInt8] {
        var template = NotificationTemplate()
        template.notificationType = "UNCLAIM_SEATS"
        template.notificationUUID = UUID().uuidString.lowercased()
        template.signedDate = MintedWorld.moment.addingTimeInterval(3600 + day * 86_400)
        template.extra = [
            Claim(
                "unclaimInfo",
                .object([
                    Claim("bundleId", .string("com.example.app")), Claim("environment", .string(environment)),
                    Claim("unclaimSeatIds", .array(ids.map { .string($0) })),
                ]))
        ]
        return try MintedWorld.mint(template)
    }

    /// Renewal info with a grace period.
    static func grace(until day: Double, on signed: Double) throws -> [UInt8] {
        var template = RenewalInfoTemplate(transaction: try SeatCountTests.team("900", 2, from: 0))
        template.signedDate = MintedWorld.moment.addingTimeInterval(3600 + signed * 86_400)
        template.autoRenewStatus = 1
        template.isInBillingRetryPeriod = true
        template.gracePeriodExpiresDate = MintedWorld.moment.addingTimeInterval(3600 + day * 86_400)
        return try MintedWorld.mint(template)
    }

    static func refund(_ id: String, _ seats: Int64, from start: Double, on day: Double) throws -> [UInt8] {
        try MintedWorld.mint(
            try SeatCountTests.team(id, seats, from: start, stamp: day, revokedSeats: seats) {
                $0.revocationDate = $0.signedDate
                $0.revocationReason = 0
            })
    }

    static func day(_ day: Double) -> Timestamp {
        Timestamp(MintedWorld.moment.addingTimeInterval(3600 + day * 86_400))
    }

    /// The reasons of the members, in their order; "active" for plain access.
    static func states(
        _ world: LedgerWorld, _ members: [String] = members, at moment: Timestamp? = nil
    ) async throws -> [String] {
        var states: [String] = []
        for member in members {
            let entitlement = try await world.entitlement(monthly, of: member, at: moment)
            if let entitlement {
                #expect((entitlement.state == .active) == [nil, .inGrace].contains(entitlement.reason))
            }
            states.append(entitlement.map { $0.reason?.rawValue ?? "active" } ?? "none")
        }
        return states
    }

    @Test(
        "28.2 A seat gives the access of the purchaser's period: renewed, in grace, expired, refunded and reversed with it"
    )
    func followsPurchaser() async throws {
        try await Self.with(seats: 2) { world in
            let claimed = try await Self.claim(world, "bob")
            #expect(claimed.replayed == false && claimed.seated && claimed.customerID == "bob")
            let entitlement = try #require(try await world.entitlement(Self.monthly, of: "bob"))
            #expect(entitlement.state == .active && entitlement.until == Self.day(30))
            #expect(entitlement.since == world.clock.now && entitlement.seats == nil)
            #expect(try await world.entitlements(of: "bob").named.map(\.isActive) == [true])
            try await world.observe(try MintedWorld.mint(try SeatCountTests.team("901", 2, from: 30)))
            world.clock.advance(days: 31)
            #expect(try await world.entitlement(Self.monthly, of: "bob")?.until == Self.day(60))
            world.clock.advance(days: 31)
            #expect(try await Self.states(world, ["alice", "bob"]) == ["news_missing", "news_missing"])
            try await world.observe(try Self.grace(until: 76, on: 60.1))
            #expect(try await Self.states(world, ["alice", "bob"]) == ["in_grace", "in_grace"])
            #expect(try await world.entitlement(Self.monthly, of: "bob")?.until == Self.day(76))
            try await world.observe(try MintedWorld.mint(try SeatCountTests.team("902", 2, from: 60, stamp: 62)))
            #expect(try await Self.states(world, ["alice", "bob"]) == ["active", "active"])
            try await world.observe(try Self.refund("902", 2, from: 60, on: 62.1))
            world.clock.advance(days: 1)
            #expect(try await Self.states(world, ["alice", "bob"]) == ["revoked", "revoked"])
            try await world.observe(try MintedWorld.mint(try SeatCountTests.team("902", 2, from: 60, stamp: 62.5)))
            #expect(try await Self.states(world, ["alice", "bob"]) == ["active", "active"])
            // A purchase by hand-made revocation ends for the members, too.
            let act = try await world.revoke("902", of: "alice")
            #expect(try await Self.states(world, ["alice", "bob"]) == ["revoked_by_hand", "revoked_by_hand"])
            try await world.ledger.perform(LiftByHand(app: "example", customerID: "alice", id: act, reason: "mistake"))
            #expect(try await Self.states(world, ["alice", "bob"]) == ["active", "active"])
            #expect(try await world.events().count { $0 == "seat_claimed" } == 1)
        }
    }

    @Test("28.2 A seat is never assumed to be renewed (row 10)")
    func neverAssumed() async throws {
        try await Self.with(seats: 2, { $0.mode = .both }) { world in
            try await Self.claim(world, "bob")
            world.clock.advance(seconds: 30 * 86_400 + 600)
            #expect(try await world.entitlement(Self.monthly, of: "alice")?.isAssumed == true)
            #expect(try await world.entitlement(Self.monthly, of: "alice")?.seats == nil)
            #expect(try await Self.states(world, ["bob"]) == ["news_missing"])
        }
    }

    @Test("28.2 When a renewal has fewer seats, the newest claims wait, and move up when an older one ends")
    func fewerSeats() async throws {
        for member in Self.members.prefix(3) {
            world.clock.advance(seconds: 60)
            try await Self.claim(world, member)
        }
        await #expect(throws: LedgerRefusal.self) { try await Self.claim(world, "erin") }
        try await world.observe(try MintedWorld.mint(try SeatCountTests.team("901", 2, from: 30)))
        world.clock.advance(days: 31)
        #expect(try await Self.states(world) == ["active", "active", "no_seat", "none"])
        #expect(try await world.entitlement(Self.monthly, of: "dave")?.state == .pending)
        // For the period before, all of them had one.
        #expect(try await Self.states(world, at: Self.day(20)) == ["active", "active", "active", "none"])
        let listed = try await Self.list(world)
        #expect(listed.seats == 2 && listed.claims == 3 && listed.next == nil)
        #expect(listed.claimed.map(\.customerID) == ["bob", "carol", "dave"])
        #expect(listed.claimed.map(\.seated) == [true, true, false])
        try await Self.unclaim(world, listed.claimed[0].seatID)
        world.clock.advance(seconds: 60)
        #expect(try await Self.states(world) == ["seat_unclaimed", "active", "active", "none"])
        #expect(try await world.entitlement(Self.monthly, of: "bob")?.state == .withdrawn)
        // An addition seats a further member until it is refunded.
        try await world.observe(
            try MintedWorld.mint(try SeatCountTests.team("902", 1, from: 31, days: 29, isAddition: true)))
        world.clock.advance(days: 1)
        try await Self.claim(world, "erin")
        #expect(try await Self.states(world) == ["seat_unclaimed", "active", "active", "active"])
        #expect(try await world.entitlement(Self.monthly)?.seats == 3)
        try await world.observe(try Self.refund("902", 1, from: 31, on: 31.5))
        #expect(try await Self.states(world) == ["seat_unclaimed", "active", "active", "no_seat"])
        #expect(try await world.entitlement(Self.monthly)?.seats == 2)
    }

    @Test("28.2 Of concurrent claims, as many are accepted as there are seats")
    func concurrent() async throws {
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<9 {
                group.addTask {
                    do {
                        _ = try await Self.claim(world, "member \(number)")
                        return true
                    } catch {
                        let code = (error as? LedgerRefusal)?.code
                        #expect(code == .noSeat)
                        return false
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(accepted == 3)
        #expect(try await Self.list(world).claims == 3)
    }

    @Test("28.2 Only subscriptions whose members the backend invites have seats to claim, while they give access")
    func refusals() async throws {
        try await LedgerWorld.with { world in
            #expect(await refusal { try await Self.claim(world, "bob") } == .purchaseUnknown)
            _ = try await world.claim(
                "900", try MintedWorld.mint(try SeatCountTests.team("900", 2, from: 0, management: "APPLE")))
            #expect(await refusal { try await Self.claim(world, "bob") } == .seatsNotHosted)
            #expect(await refusal { _ = try await Self.list(world) } == .seatsNotHosted)
            try await world.observe(try MintedWorld.mint(try SeatCountTests.team("901", 1, from: 30)))
            #expect(await refusal { try await Self.claim(world, "bob") } == .noSeat)
            world.clock.advance(days: 31)
            #expect(await refusal { try await Self.claim(world, "bob") } == nil)
            #expect(await refusal { try await Self.claim(world, "carol") } == .noSeat)
            #expect(await refusal { try await Self.unclaim(world, "other") } == .seatUnknown)
            world.clock.advance(days: 90)
            let seat = try await Self.list(world).claimed[0].seatID
            try await Self.unclaim(world, seat)
            #expect(await refusal { try await Self.claim(world, "carol") } == .noSeat)
        }
    }

    @Test("28.2 Seats are merged and erased with the customer, and end with the purchaser's erasure")
    func mergedAndErased() async throws {
        try await Self.claim(world, "bob", seat: "seat-1")
        try await Self.claim(world, "carol", seat: "seat-2")
        try await world.merge("bob", into: "dave")
        #expect(try await Self.states(world, ["dave", "carol"]) == ["active", "active"])
        #expect(try await Self.list(world).claimed.map(\.customerID) == ["dave", "carol"])
        #expect(try await Self.claim(world, "bob", request: "request of bob").seatID == "seat-1")
        try await world.requireConsistency()
        try await world.erase("dave")
        #expect(try await Self.list(world).claimed.map(\.customerID) == ["carol"])
        await #expect(throws: LedgerRefusal.self) {
            try await Self.claim(world, "erin", seat: "seat-1")
        }
        try await world.requireConsistency()
        try await Self.claim(world, "erin")
        try await world.erase("alice")
        #expect(try await Self.states(world, ["carol", "erin"]) == ["none", "none"])
        try await world.requireConsistency()
        #expect(try await world.ledger.audit(isVerifyingEvidence: false).findings == [])
        // What is bought after the erasure gives the members access again.
        world.clock.advance(days: 31)
        try await world.observe(try MintedWorld.mint(try SeatCountTests.team("901", 2, from: 30)))
        #expect(try await Self.states(world, ["carol", "erin"]) == ["active", "active"])
    }

    @Test("28.2 A member's subscriptions are listed with their seat, a purchaser's with the number of seats", .seats(2))
    func subscriptions() async throws {
        try await Self.claim(world, "bob")
        func list(_ customer: String) async throws -> [SubscriptionMessage] {
            try await world.ledger.answer(SubscriptionsOfCustomer(app: "example", customerID: customer))
                .subscriptions
        }
        let purchaser = try await list("alice")
        #expect(purchaser.map(\.originalTransactionID) == ["900"] && purchaser.map(\.entitlement.seats) == [2])
        #expect(purchaser.allSatisfy { $0.seat == nil })
        let member = try await list("bob")
        #expect(member.map(\.originalTransactionID) == ["900"] && member.map(\.entitlement.state) == [.active])
        #expect(member.first?.seat?.requestID == "request of bob" && member.first?.seat?.seated == true)
        // With a subscription of their own, a member has two, and one entitlement.
        let own = try await world.claim(
            "950", customer: "bob", try LedgerWorld.period("950", original: "950", from: -29)
        )
        #expect(own.entitlement?.until == Self.day(30))
        #expect(Set(try await list("bob").map(\.originalTransactionID)) == ["900", "950"])
        world.clock.advance(days: 2)
        #expect(try await Self.states(world, ["bob"]) == ["active"])
        // A claim is decided by its own purchase, and its answer shows the seat's access.
        let expired = try await world.claim(
            "950", customer: "bob", try LedgerWorld.period("950", original: "950", from: -29)
        )
        #expect(expired.code == "subscription_expired" && expired.entitlement?.state == .active)
    }

    @Test(
        "28.2 A purchaser's renewal with 1,000 members changes no row of a member, and their answers cost the same",
        .folder)
    func cost() async throws {
        let recorder = RecordingDatabase(try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path))
        let world = try await LedgerWorld(recorder)
        _ = try await world.claim("900", try MintedWorld.mint(try SeatCountTests.team("900", 1000, from: 0)))
        func renewal(_ number: Int) async throws -> [String] {
            let evidence = try MintedWorld.mint(
                try SeatCountTests.team("\(900 + number)", 1000, from: Double(30 * number)))
            _ = recorder.take()
            try await world.observe(evidence)
            return recorder.take()
        }
        func answer(_ member: Int) async throws -> Int {
            _ = recorder.take()
            #expect(try await world.entitlement(Self.monthly, of: "member \(member)")?.state == .active)
            return recorder.take().count
        }
        try await Self.claim(world, "member 0")
        let (few, fewAnswers) = (try await renewal(1).count, try await answer(0))
        for member in 1..<1000 { try await Self.claim(world, "member \(member)") }
        await #expect(throws: LedgerRefusal.self) { try await Self.claim(world, "member 1000") }
        let (many, manyAnswers) = (try await renewal(2), try await answer(999))
        #expect(many.count == few && manyAnswers == fewAnswers)
        print("statements: renewal \(few) with 1 member, \(many.count) with 1,000; a member's answer \(manyAnswers)")
        world.clock.advance(days: 61)
        #expect(try await world.entitlement(Self.monthly, of: "member 500")?.until == Self.day(90))
        try await world.database.close()
    }

    @Test(
        "28.2 A rescinded consent is an event for every member known by that download, seated or unclaimed, and follows merges and erasures"
    )
    func rescindedConsent() async throws {
        try await Self.with(seats: 3) { world in
            func claim(_ customer: String, _ download: String?) async throws -> String {
                world.clock.advance(seconds: 60)
                return try await world.ledger.perform(
                    ClaimSeat(
                        app: "example", originalTransactionID: "900", customerID: customer,
                        requestID: "of \(customer)", appTransactionID: download)
                ).seatID
            }
            func told() async throws -> [String?] {
                try await world.ledger.answer(EventList(app: "example", limit: 1000))
                    .filter { $0.type == EventType.consentRescinded.rawValue }.map(\.content.customerID)
            }
            // Bob also owns a purchase of the download, and is told once.
            _ = try await world.claim("1", customer: "bob", try LedgerWorld.signed("1") { $0.appTransactionID = "71" })
            _ = try await claim("bob", "71")
            let ended = try await claim("carol", "71")
            try await Self.unclaim(world, ended)
            _ = try await claim("dave", "72")
            _ = try await claim("erin", nil)
            // The purchaser owns the transactions of the subscription, which state another download.
            for _ in 1...2 {
                try await world.observe(
                    try NotificationTests.rescission("71", id: "00000000-0000-4000-8000-000000000071"))
            }
            #expect(try await told() == ["bob", "carol"])
            try await world.observe(try NotificationTests.rescission("70"))
            #expect(try await told().count == 2)
            // A merged member is told under the name that remains; the notification is found by it, and erased with it.
            try await world.merge("dave", into: "frank")
            try await world.observe(try NotificationTests.rescission("72"))
            #expect(try await told() == ["bob", "carol", "frank"])
            let filter = NotificationFilter(customerID: "frank")
            let query = NotificationList(app: "example", filter: filter, limit: 10)
            #expect(try await world.ledger.answer(query).entries.map(\.type) == ["RESCIND_CONSENT"])
            for customer in ["carol", "frank"] {
                try await world.erase(customer)
            }
            let list = try await world.ledger.answer(NotificationList(app: "example", limit: 10)).entries
            // What names the download of an erased customer has no details any more.
            #expect(list.count { $0.type == nil } == 2 && list.count { $0.type == "RESCIND_CONSENT" } == 1)
            try await world.observe(try NotificationTests.rescission("72"))
            #expect(try await told().compactMap(\.self) == ["bob"])
        }
    }

    @Test("28.2 A member of a sandbox subscription is not told of a consent that was rescinded in Production", .ledger)
    func rescindedConsentElsewhere() async throws {
        let team = try SeatCountTests.team("900", 2, from: 0) { $0.environment = "Sandbox" }
        _ = try await world.claim("900", product: Self.monthly, try MintedWorld.mint(team))
        try await Self.claim(world, "bob")
        try await world.observe(try NotificationTests.rescission("download of bob"))
        #expect(try await !world.events().contains("consent_rescinded"))
    }
}
