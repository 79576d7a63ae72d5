import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Seats and families")
struct SeatAndFamilyTests {
    var world: LedgerWorld { CurrentWorld.opened() }

    private let alice = PurchaseStory.alice
    private let bob = PurchaseStory.bob
    private let carol = PurchaseStory.carol

    private func seats(
        _ id: String, on day: Double, _ quantity: Int64, revokedSeats: Int64 = 0, stamp: Double? = nil,
        revoked: Double? = nil
    ) -> TransactionStatement {
        var statement = TransactionStatement.signed(
            id, "monthly", .autoRenewable, on: day, original: "1", until: 30, stamp: stamp, revoked: revoked)
        // Even with the same line item, an addition is no copy.
        statement.lineItemID = "77"
        statement.quantity = nil
        statement.seats = SeatFacts(quantity: quantity, revoked: revokedSeats, additionReason: "SEAT_ADDITION")
        return statement
    }

    @Test("C.15 Addition of seats refunded: access stays; every transaction of the period revoked: withdrawn")
    func additions() {
        let bought = [seats("1", on: 0, 10), seats("2", on: 10, 5)]
        let fewer = seats("2", on: 10, 5, revokedSeats: 2, stamp: 11)
        let gone = seats("2", on: 10, 5, revokedSeats: 5, stamp: 12, revoked: 12)
        let all = seats("1", on: 0, 10, revokedSeats: 10, stamp: 14, revoked: 14)
        for statements in StoryRow.orders(bought + [fewer, gone], most: .max) {
            var story = PurchaseStory()
            for id in ["1", "2"] { story.claim(id, alice) }
            story.statements = statements
            #expect(story.purchases.count == 2)
            #expect(story.facts[.sample("2")]?.seats?.remaining == 0)
            #expect(story.facts[.sample("2")]?.quantity == 5)
            #expect(story.isActive(alice, "monthly", day: 20))
            story.statements.append(all)
            #expect(!story.isActive(alice, "monthly", day: 20))
            #expect(story.isActive(alice, "monthly", day: 13))
        }
    }

    @Test("C.15 The newest statement of seats counts as a whole, and survives the stored form")
    func merge() throws {
        let statements = [
            seats("1", on: 0, 10), seats("1", on: 0, 12, stamp: 5), seats("1", on: 0, 12, revokedSeats: 3, stamp: 7),
        ]
        for order in StoryRow.orders(statements, most: .max) {
            let facts = order.dropFirst().reduce(ObservedTransaction(order[0])) { $0.merged(with: $1) }
            #expect(facts.seats?.remaining == 9 && facts.contradictions(with: ObservedTransaction(statements[0])) == [])
            #expect(try ObservedTransaction(key: facts.key, encoded: facts.encoded) == facts)
        }
    }

    private func member(_ id: String, type: ExactText, _ download: ExactText?) -> TransactionStatement {
        var statement = TransactionStatement.signed(id, "monthly", .autoRenewable, on: 1, original: "1", until: 30)
        statement.ownershipType = type
        statement.appTransactionID = download
        return statement
    }

    @Test("C.15 Members of a group or a family own their copies apart from each other and from the buyer")
    func members() {
        for (type, downloads) in [
            ("ASSIGNED", ["b", "c"]), ("ASSIGNED", [nil, nil]), ("ASSIGNED", ["b", nil]),
            ("FAMILY_SHARED", ["b", "c"]),
            ("FAMILY_SHARED", ["b", nil]),
        ] as [(ExactText, [ExactText?])] {
            let statements = [
                member("1", type: "PURCHASED", "a"), member("2", type: type, downloads[0]),
                member("3", type: type, downloads[1]),
            ]
            for arrival in StoryRow.orders(statements, most: .max) {
                var story = PurchaseStory()
                for (id, customer) in [("1", alice), ("2", bob), ("3", carol)] { story.claim(id, customer) }
                story.statements = arrival
                #expect(["1", "2", "3"].map(story.owner) == [alice, bob, carol])
                for customer in [alice, bob, carol] { #expect(story.isActive(customer, "monthly", day: 20)) }
            }
        }
    }

    @Test("C.15 A download that becomes known later joins a member's transactions")
    func laterDownload() {
        for arrival in StoryRow.orders([
            member("2", type: "ASSIGNED", nil), member("2", type: "ASSIGNED", "b"), member("3", type: "ASSIGNED", "b"),
        ]) {
            var story = PurchaseStory()
            story.claim("2", bob)
            story.statements = arrival
            #expect(["2", "3"].map(story.owner) == [bob, bob])
        }
    }

    @Test(
        "C.15 Members claim their copies, pay no orders, and are revoked apart",
        .ledger, arguments: ["ASSIGNED", "FAMILY_SHARED"])
    func claims(type: String) async throws {
        func copy(_ id: String, _ download: String) throws -> [UInt8] {
            try LedgerWorld.period(id, from: 0) {
                $0.inAppOwnershipType = type
                $0.appTransactionID = download
            }
        }
        let members = [("bob", try copy("902", "b"), "902"), ("carol", try copy("903", "c"), "903")]
        _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
        for (customer, evidence, id) in members {
            let order = try await world.order(customer, product: LedgerWorld.monthly)
            let unpaid = try await world.claim(id, customer: customer, order: order.id, evidence)
            #expect(unpaid.code == "purchase_not_paid" && unpaid.disposition == .granted)
            let outcome = try await world.claim(id, product: LedgerWorld.monthly, customer: customer, evidence)
            #expect(outcome.code == "accepted" && outcome.isFamilyShared == (type == "FAMILY_SHARED"))
        }
        let foreign = try await world.claim("903", customer: "bob", members[1].1)
        #expect(foreign.code == "already_claimed")
        try await world.revoke("902", of: "bob")
        #expect(try await world.entitlement(LedgerWorld.monthly, of: "bob")?.state == .withdrawn)
        for customer in ["alice", "carol"] {
            #expect(try await world.entitlement(LedgerWorld.monthly, of: customer)?.state == .active)
        }
    }
}
