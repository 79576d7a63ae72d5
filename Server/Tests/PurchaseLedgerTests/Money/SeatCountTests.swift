import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The number of seats of a subscription.
@Suite("The seats of a subscription")
struct SeatCountTests {
    var world: LedgerWorld { CurrentWorld.opened() }

    private static let alice = PurchaseStory.alice

    /// What the statements say about the number of seats on some days, in every order.
    private static func expect(_ statements: String, _ expected: [(day: Double, seats: Int64?)]) {
        for order in StoryRow.orders([TransactionStatement].story(statements), most: .max) {
            var story = PurchaseStory()
            story.statements = order
            for id in Set(order.map(\.key)) { story.claim(id.transactionID.string, alice) }
            let seats = SubscriptionSeats(story.purchases, of: "monthly")
            for (day, number) in expected {
                #expect(seats.number(.at(.day(day))) == number, "day \(day) of \(order.map(\.key.transactionID))")
            }
        }
    }

    @Test(
        "28.2 12 The seats of a period are the sum of its transactions, without refunded seats and withdrawn transactions"
    )
    func additions() {
        let bought = "1 0-30 seats5; 2 10-30 seats3"
        let refunded = bought + "; 2 10-30 !12 seats3 less3"
        Self.expect(bought, [(-1, nil), (5, 5), (10, 8), (29.9, 8)])
        Self.expect(refunded, [(5, 5), (11, 5), (13, 5)])
        Self.expect(bought + "; 1 0-30 @12 seats5 less2", [(11, 6), (13, 6)])
        Self.expect(refunded + "; 1 0-30 !14 seats5 less5", [(13, 0), (14, nil)])
    }

    @Test("28.2 A renewal with fewer seats counts from the end of the period before it, also if it was charged early")
    func renewals() {
        Self.expect("1 0-30 seats5; 2 10-30 seats3; 3 29.5-60 seats4", [(29.4, 8), (29.9, 8), (30, 4), (59, 4)])
        // Seats that are added after the early charge still belong to the period that runs.
        Self.expect("1 0-30 seats5; 2 29.5-60 seats4; 3 29.7-30 seats1", [(29.6, 5), (29.8, 6), (30, 4)])
        // What was refunded does not keep a new purchase waiting.
        Self.expect("1 0-30 !4 seats5 less5; 2 6-36 seats2", [(3, 0), (5, nil), (7, 2), (35, 2)])
    }

    @Test(
        "28.2 16 An extended transaction keeps its seats after the others ended, and a grace period has those of its last moment"
    )
    func ends() {
        let extended = "1 0-30 seats5; 2 10-30 seats3; 1 0-44 @20 seats5"
        Self.expect(extended, [(29, 8), (31, 5), (45, 5)])
        Self.expect("1 0-30 seats5; 2 10-30 seats3", [(31, 8), (46, 8)])
        // An addition to the extended period belongs to it.
        Self.expect(extended + "; 3 21-44 seats2", [(29, 10), (31, 7)])
    }

    @Test(
        "28.2 Two periods at once after a reversed refund: the seats are those of the period that counts, whatever came first"
    )
    func twoPeriods() {
        // Refunded on day 4, bought again on day 6, and reversed on day 8.
        let reversed = "1 0-30 !4 seats5; 1 0-30 @8 seats5; 2 6-36 seats2"
        Self.expect("1 0-30 seats5; " + reversed, [(3, 5), (5, 5), (7, 2), (29, 2), (31, 2), (36, 2)])
        // Seats that were added to the second period belong to it.
        Self.expect(reversed + "; 3 10-36 seats1", [(7, 2), (11, 3), (35, 3)])
        // The later period is refunded, so the earlier one counts.
        Self.expect(reversed + "; 2 6-36 !12 seats2", [(11, 2), (13, 5), (29, 5), (31, 5)])
        // The App Store extends the earlier one beyond the later one, which is no addition to it.
        Self.expect(reversed + "; 1 0-60 @20 seats5", [(7, 5), (35, 5), (37, 5), (61, 5)])
    }

    @Test(
        "28.2 Seats that are added after a refund was reversed belong to the period again, which may have been extended"
    )
    func additionAfterReversal() {
        // Refunded on day 4, reversed on day 8, three seats added on day 10 until the same end.
        let first = "1 0-30 seats5; 1 0-30 !4 seats5; 1 0-30 @8 seats5"
        Self.expect(first + "; 2 10-30 seats3", [(3, 5), (9, 5), (11, 8), (29, 8), (31, 8)])
        // The period was extended before the addition, and is extended again after it.
        let extended = first + "; 1 0-60 @9 seats5; 2 40-60 seats3"
        Self.expect(extended, [(11, 5), (39, 5), (41, 8), (59, 8), (61, 8)])
        Self.expect(extended + "; 1 0-90 @50 seats5; 2 40-90 @50 seats3", [(39, 5), (41, 8), (59, 8), (89, 8)])
    }

    /// A transaction of the team.
    static func team(
        _ id: String, _ quantity: Int64, from start: Double, days: Double = 30, stamp: Double? = nil,
        revokedSeats: Int64 = 0, management: String = "DEVELOPER", isAddition: Bool = false,
        _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) throws -> SignedTransactionTemplate {
        LedgerWorld.template(id, product: LedgerWorld.monthly) {
            $0.originalTransactionID = "900"
            $0.purchaseDate = MintedWorld.moment.addingTimeInterval(3600 + start * 86_400)
            $0.originalPurchaseDate = MintedWorld.moment.addingTimeInterval(3600)
            $0.expiresDate = $0.purchaseDate?.addingTimeInterval(days * 86_400)
            $0.signedDate = MintedWorld.moment.addingTimeInterval(3600 + (stamp ?? start) * 86_400)
            $0.quantity = quantity
            $0.inAppOwnershipType = "PURCHASED"
            var info = [Claim("invitationManagement", .string(management))]
            if revokedSeats > 0 { info.append(Claim("revokedSeatQuantity", .integer(revokedSeats))) }
            $0.extra.append(Claim("multiSeatInfo", .object(info)))
            if isAddition { $0.extra.append(Claim("additionalTransactionReason", .string("SEAT_ADDITION"))) }
            change(&$0)
        }
    }

    @Test(
        "28.2 12 Five seats, three more, and the addition refunded: five seats, access stays, and every answer shows them"
    )
    func shown() async throws {
        try await LedgerWorld.with { world in
            func entitlement() async throws -> Entitlement? { try await world.entitlement(LedgerWorld.monthly) }
            let first = try MintedWorld.mint(try Self.team("900", 5, from: 0))
            let claimed = try await world.claim("900", product: LedgerWorld.monthly, first)
            #expect(claimed.entitlement?.seats == 5 && claimed.seats == 5)
            world.clock.advance(days: 11)
            try await world.observe(try MintedWorld.mint(try Self.team("901", 3, from: 10, days: 20, isAddition: true)))
            #expect(try await entitlement()?.seats == 8)
            world.clock.advance(days: 1)
            try await world.observe(
                try MintedWorld.mint(
                    try Self.team("901", 3, from: 10, days: 20, stamp: 12, revokedSeats: 3, isAddition: true) {
                        $0.revocationDate = $0.signedDate
                        $0.revocationReason = 0
                    }))
            #expect(try await entitlement()?.seats == 5)
            #expect(try await entitlement()?.state == .active)
            let purchases = try await world.ledger.answer(
                PurchasesOfCustomer(app: "example", customerID: LedgerWorld.customer, limit: 10)
            ).entries
            #expect(Set(purchases.map(\.seats)) == [5, 0])
            #expect(try await world.claim("900", product: LedgerWorld.monthly, first).entitlement?.seats == 5)
            try await world.observe(
                try MintedWorld.mint(
                    try Self.team("900", 5, from: 0, stamp: 12.5, revokedSeats: 5, isAddition: true) {
                        $0.revocationDate = $0.signedDate
                        $0.revocationReason = 0
                    }))
            world.clock.advance(days: 1)
            #expect(try await entitlement()?.state == .withdrawn)
            #expect(try await entitlement()?.seats == nil)
        }
    }

    @Test("28.2 Added seats are granted and not renewed, and refunds of seats are told with their number", .ledger)
    func told() async throws {
        var told = 0
        func news() async throws -> [String] {
            let events = try await world.ledger.answer(EventList(app: "example", limit: 100))
            defer { told = events.count }
            return events.dropFirst(told).map { "\($0.type) \($0.content.units ?? 0)" }
        }
        func observe(
            _ id: String, _ quantity: Int64, from start: Double, stamp: Double? = nil, revoked: Int64 = 0,
            isAddition: Bool = true
        ) async throws {
            try await world.observe(
                try MintedWorld.mint(
                    try Self.team(
                        id, quantity, from: start, days: isAddition ? 30 - start : 30, stamp: stamp,
                        revokedSeats: revoked, isAddition: isAddition
                    ) {
                        if revoked == quantity { $0.revocationDate = $0.signedDate }
                    }))
        }
        _ = try await world.claim("900", try MintedWorld.mint(try Self.team("900", 5, from: 0)))
        #expect(try await news() == ["granted 5"])
        world.clock.advance(days: 20)
        try await observe("901", 3, from: 10)
        #expect(try await news() == ["granted 3"])
        try await observe("901", 3, from: 10, stamp: 11, revoked: 1)
        #expect(try await news() == ["revoked 1"])
        try await observe("901", 3, from: 10, stamp: 12, revoked: 3)
        #expect(try await news() == ["revoked 2"])
        try await observe("901", 3, from: 10, stamp: 13)
        #expect(try await news() == ["reversed 3"])
        try await observe("900", 5, from: 0, stamp: 14, revoked: 2)
        #expect(try await news() == ["revoked 2"])
        // The same again, signed later.
        try await observe("900", 5, from: 0, stamp: 15, revoked: 2)
        #expect(try await news() == [])
        world.clock.advance(days: 11)
        try await observe("902", 6, from: 30, isAddition: false)
        #expect(try await news() == ["renewed 6"])
        #expect(try await world.ledger.audit().findings == [])
    }

    @Test(
        "28.2 A member whom Apple invited owns their transaction and shows no seats; other subscriptions show none either"
    )
    func members() async throws {
        try await LedgerWorld.with { world in
            _ = try await world.claim(
                "900", try MintedWorld.mint(try Self.team("900", 5, from: 0, management: "APPLE")))
            for (member, id, download) in [("bob", "902", "b"), ("carol", "903", nil)] as [(String, String, String?)] {
                let copy = try MintedWorld.mint(
                    try Self.team(id, 5, from: 0, management: "APPLE") {
                        $0.inAppOwnershipType = "ASSIGNED"
                        $0.appTransactionID = download
                    })
                let outcome = try await world.claim(id, product: LedgerWorld.monthly, customer: member, copy)
                #expect(outcome.code == "accepted" && outcome.entitlement?.state == .active)
                #expect(outcome.entitlement?.seats == nil && outcome.seats == nil)
                #expect(try await world.entitlement(LedgerWorld.monthly, of: member)?.seats == nil)
            }
            #expect(try await world.entitlement(LedgerWorld.monthly)?.seats == 5)
            let other = try await world.claim(
                "950", customer: "dave",
                try LedgerWorld.period("950", original: "950", product: LedgerWorld.yearly, from: 0))
            #expect(other.entitlement?.state == .active && other.entitlement?.seats == nil && other.seats == nil)
        }
    }
}
