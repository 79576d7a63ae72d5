import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Repeated requests, and the ids of seats: when two are the same, and when one is used up.
extension SeatClaimTests {
    @Test("28.2 A claim is idempotent by its request id; a customer has at most one seat of a subscription", .seats(2))
    func idempotent() async throws {
        let first = try await Self.claim(world, "bob", request: "r1")
        let again = try await Self.claim(world, "bob", request: "r1")
        #expect(again.replayed == true && again.seatID == first.seatID)
        #expect(try await Self.claim(world, "bob", request: "r2").seatID == first.seatID)
        await #expect(throws: LedgerRefusal.self) { try await Self.claim(world, "carol", request: "r1") }
        try await Self.unclaim(world, first.seatID)
        try await Self.unclaim(world, first.seatID)
        let ended = try await Self.claim(world, "bob", request: "r1")
        #expect(ended.replayed == true && ended.unclaimedAt != nil && !ended.seated)
        world.clock.advance(seconds: 60)
        let new = try await Self.claim(world, "bob", request: "r3")
        #expect(new.replayed == false && new.seatID != first.seatID)
        #expect(try await Self.states(world, ["bob"]) == ["active"])
        #expect(
            try await world.events().filter { $0.hasPrefix("seat_") }
                == ["seat_claimed", "seat_unclaimed", "seat_claimed"])
    }

    @Test("28.2 An unclaimed seat id never lives again, whichever came first, and the earliest end counts")
    func unclaimedByTheStore() async throws {
        for isToldFirst in [false, true] {
            try await Self.with(seats: 3) { world in
                world.clock.advance(days: 2)
                if !isToldFirst { try await Self.claim(world, "bob", seat: "seat-1") }
                world.clock.advance(days: 2)
                let news = try Self.unclaimSeats(["seat-1", "seat-1", "seat-2"], on: 3)
                for _ in 1...2 { try await world.observe(news) }
                if isToldFirst {
                    await #expect(throws: LedgerRefusal.self) { try await Self.claim(world, "bob", seat: "seat-1") }
                    #expect(try await Self.states(world, ["bob"]) == ["none"])
                } else {
                    #expect(try await Self.states(world, ["bob"]) == ["seat_unclaimed"])
                    #expect(try await Self.states(world, ["bob"], at: Self.day(2.5)) == ["active"])
                    #expect(try await Self.states(world, ["bob"], at: Self.day(3.5)) == ["seat_unclaimed"])
                    // An end that was signed earlier and arrives later counts.
                    try await world.observe(try Self.unclaimSeats(["seat-1"], on: 2.2))
                    #expect(try await Self.states(world, ["bob"], at: Self.day(2.5)) == ["seat_unclaimed"])
                    try await Self.unclaim(world, "seat-1")
                }
                for seat in ["seat-1", "seat-2"] {
                    await #expect(throws: LedgerRefusal.self) {
                        try await Self.claim(world, "carol", request: "again \(seat)", seat: seat)
                    }
                }
                try await Self.claim(world, "bob", request: "new", seat: "seat-3")
                #expect(try await Self.states(world, ["bob"]) == ["active"])
                #expect(try await world.events().count { $0 == "seat_unclaimed" } == (isToldFirst ? 0 : 1))
            }
        }
    }

    @Test("28.2 A UUID names the same seat in capitals and in small letters")
    func capitals() async throws {
        let seats = (1...3).map { "0a1b2c3d-4e5f-4a6b-8c7d-00000000000\($0)" }
        let claimed = try await Self.claim(world, "bob", seat: seats[0].uppercased())
        #expect(claimed.seatID == seats[0])
        #expect(try await Self.claim(world, "bob", seat: seats[0]).replayed == true)
        #expect(await refusal { try await Self.claim(world, "carol", seat: seats[0]) } == .seatTaken)
        #expect(await refusal { try await Self.claim(world, "carol", seat: seats[0].uppercased()) } == .seatTaken)
        world.clock.advance(days: 2)
        try await world.observe(try Self.unclaimSeats([seats[0], seats[1].uppercased()], on: 1))
        #expect(try await Self.states(world, ["bob"]) == ["seat_unclaimed"])
        // The member's notifications show it.
        let list = NotificationList(app: "example", filter: NotificationFilter(customerID: "bob"), limit: 10)
        #expect(try await world.ledger.answer(list).entries.map(\.type) == ["UNCLAIM_SEATS"])
        for seat in [seats[0].uppercased(), seats[1], seats[1].uppercased()] {
            #expect(await refusal { try await Self.claim(world, "carol", seat: seat) } == .seatUnclaimed)
        }
        try await Self.claim(world, "carol", seat: seats[2])
        try await Self.unclaim(world, seats[2].uppercased())
        world.clock.advance(seconds: 60)
        #expect(try await Self.states(world, ["carol"]) == ["seat_unclaimed"])
        // Text that is no UUID is compared as it is.
        try await Self.claim(world, "dave", seat: "Seat")
        try await Self.claim(world, "erin", seat: "seat")
        try await world.requireConsistency()
    }

    @Test("28.2 UNCLAIM_SEATS of the sandbox ends no seat of Production, and keeps none from being claimed")
    func otherEnvironment() async throws {
        try await Self.claim(world, "bob", seat: "seat-1")
        world.clock.advance(days: 2)
        try await world.observe(try Self.unclaimSeats(["seat-1", "seat-2"], on: 1, environment: "Sandbox"))
        #expect(try await Self.states(world, ["bob"]) == ["active"])
        try await Self.claim(world, "carol", seat: "seat-2")
        #expect(try await Self.states(world, ["carol"]) == ["active"])
        try await world.requireConsistency()
        try await world.observe(try Self.unclaimSeats(["seat-1"], on: 1))
        #expect(try await Self.states(world, ["bob", "carol"]) == ["seat_unclaimed", "active"])
        try await world.requireConsistency()
    }

    @Test("28.2 A repeated claim that states something else is refused with both values; it may leave values out")
    func changedRepetition() async throws {
        func claim(_ request: String, _ download: String?, _ seat: String?) async throws -> LedgerRefusal? {
            do {
                let outcome = try await world.ledger.perform(
                    ClaimSeat(
                        app: "example", originalTransactionID: "900", customerID: "bob", requestID: request,
                        appTransactionID: download, seatID: seat))
                #expect(outcome.seatID == "seat-1" && outcome.appTransactionID == "71")
                return nil
            } catch let refusal as LedgerRefusal {
                return refusal
            }
        }
        #expect(try await claim("r1", "71", "seat-1") == nil)
        #expect(try await claim("r1", "71", "seat-1") == nil)
        #expect(try await claim("r1", nil, nil) == nil)
        let download = try await claim("r1", "72", "seat-1")
        #expect(download?.code == .idempotencyKeyReused)
        #expect(download?.expected == "app_transaction_id 71" && download?.found == "72")
        let seat = try await claim("r1", nil, "seat-2")
        #expect(seat?.code == .idempotencyKeyReused && seat?.expected == "seat_id seat-1" && seat?.found == "seat-2")
        // Another request of the customer who has a seat, for example from another download.
        #expect(try await claim("r2", "72", nil) == nil)
    }
}
