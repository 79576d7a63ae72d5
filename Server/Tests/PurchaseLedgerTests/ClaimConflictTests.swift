import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Two customers of one Apple Account, whose purchases have no account tokens.
@Suite("The event claim_conflict")
struct ClaimConflictTests {
    private static func conflicts(_ world: LedgerWorld) async throws -> [EventContent] {
        try await world.ledger.answer(EventList(app: "example", limit: 1000)).map(\.content)
            .filter { $0.type == "claim_conflict" }
    }

    private static func buy(_ world: LedgerWorld, _ id: String) async throws {
        #expect(try await world.claim(id, try LedgerWorld.signed(id)).code == "accepted")
    }

    @Test("Claims and restores tell the operator once for each pair of customers, with both names")
    func pairs() async throws {
        try await LedgerWorld.with { world in
            for id in ["1", "2", "3"] { try await Self.buy(world, id) }
            let refused = try await world.claim("1", customer: "bob", try LedgerWorld.signed("1"))
            #expect(refused.code == "already_claimed")
            let told = try #require(try await Self.conflicts(world).first)
            #expect(told.customerID == "bob" && told.ownerCustomerID == "alice" && told.formerCustomerID == nil)
            #expect(told.transactionID == "1" && told.orderID == nil)
            #expect(try await world.claim("2", customer: "bob", try LedgerWorld.signed("2")).code == "already_claimed")
            let restore = RestoreSubmission(
                app: "example", customerID: "bob", evidence: [try LedgerWorld.signed("2"), try LedgerWorld.signed("3")])
            _ = try await world.ledger.restore(restore)
            #expect(try await Self.conflicts(world).count == 1)
            let other = RestoreSubmission(
                app: "example", customerID: "carol",
                evidence: [try LedgerWorld.signed("1"), try LedgerWorld.signed("3")])
            _ = try await world.ledger.restore(other)
            #expect(try await Self.conflicts(world).map(\.customerID) == ["bob", "carol"])
            // The other way round is another pair.
            #expect(try await world.claim("4", customer: "bob", try LedgerWorld.signed("4")).code == "accepted")
            #expect(try await world.claim("4", try LedgerWorld.signed("4")).code == "already_claimed")
            #expect(try await Self.conflicts(world).map(\.ownerCustomerID) == ["alice", "alice", "bob"])
        }
    }

    @Test("What is no conflict of customers tells none: own copies, account tokens, and claims that transfer")
    func none() async throws {
        try await LedgerWorld.with({ $0.transfer = .move }) { world in
            let token = UUID()
            _ = try await world.ledger.perform(AssignToken(app: "example", customerID: "alice", token: token))
            let named = try LedgerWorld.signed("1") { $0.appAccountToken = token.uuidString.lowercased() }
            #expect(try await world.claim("1", named).code == "accepted")
            #expect(try await world.claim("1", customer: "bob", named).code == "app_account_token_mismatch")
            let pro = try LedgerWorld.signed("2", product: LedgerWorld.pro, kind: .nonConsumable)
            #expect(try await world.claim("2", product: LedgerWorld.pro, pro).code == "accepted")
            #expect(try await world.claim("2", product: LedgerWorld.pro, customer: "bob", pro).code == "accepted")
            try await Self.buy(world, "3")
            let copy = try LedgerWorld.signed("4") { $0.originalTransactionID = "3" }
            #expect(try await world.claim("4", copy).claimedBy == .restoredCopy)
            #expect(try await Self.conflicts(world).isEmpty)
        }
    }

    @Test("After erasures, transfers and merges of either customer, the events are those of a rebuild")
    func erased() async throws {
        for erased in ["alice", "bob"] {
            for isMoved in [false, true] {
                try await LedgerWorld.with { world in
                    for id in ["1", "2"] { try await Self.buy(world, id) }
                    for id in ["1", "2"] {
                        _ = try await world.claim(id, customer: "bob", try LedgerWorld.signed(id))
                    }
                    if isMoved {
                        _ = try await world.ledger.perform(
                            MovePurchase(app: "example", transactionID: "2", to: "carol", reason: "of a test"))
                        _ = try await world.claim("2", customer: "bob", try LedgerWorld.signed("2"))
                        try await world.ledger.perform(
                            MergeCustomers(app: "example", customerID: "carol", into: "dora"))
                        _ = try await world.claim("2", customer: "bob", try LedgerWorld.signed("2"))
                    }
                    try await world.requireConsistency()
                    _ = try await world.ledger.perform(
                        EraseCustomer(app: "example", customerID: erased, reason: "of a test"))
                    _ = try await world.claim("2", customer: "bob", try LedgerWorld.signed("2"))
                    _ = try await world.claim("1", customer: "bob", try LedgerWorld.signed("1"))
                }
            }
        }
    }
}
