import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Evidence that contradicts earlier evidence of a purchase whose units were used")
struct ContradictingEvidenceTests {
    private func signed(_ second: Double, _ change: (inout SignedTransactionTemplate) -> Void) throws -> [UInt8] {
        try LedgerWorld.signed("1") {
            $0.quantity = 5
            $0.signedDate = $0.purchaseDate?.addingTimeInterval(second)
            change(&$0)
        }
    }

    @Test("With a new product the units leave the former balance, and used units are subtracted from the new one")
    func product() async throws {
        let gems = "com.example.app.gems"
        try await LedgerWorld.with {
            $0.products[gems] = RegisteredProduct(kind: .consumable)
        } _: { world in
            _ = try await world.claim("1", try signed(0) { _ in })
            _ = try await world.consume(2, "a")
            try await world.observe(try signed(1) { $0.productID = gems })
            #expect(try await world.entitlement()?.balance == nil)
            #expect(try await world.entitlement(gems)?.balance == 3)
            // No longer a consumable, and a consumable again.
            try await world.observe(
                try signed(2) {
                    $0.productID = LedgerWorld.pro
                    $0.type = .nonConsumable
                })
            #expect(try await world.entitlement(gems)?.balance == nil)
            #expect(try await world.entitlement(LedgerWorld.pro)?.state == .active)
            try await world.observe(try signed(3) { _ in })
            #expect(try await world.entitlement()?.balance == 3)
            #expect(try await world.entitlement()?.shortfall == 0)
            #expect(try await world.entitlement(LedgerWorld.pro) == nil)
        }
    }

    @Test("Another original is recorded, although units of the former one were used")
    func original() async throws {
        try await LedgerWorld.with { world in
            _ = try await world.claim("1", try signed(0) { _ in })
            _ = try await world.consume(2, "a")
            let outcome = try await world.claim("1", try signed(1) { $0.originalTransactionID = "2" })
            #expect(outcome.code == "accepted" && outcome.originalTransactionID == "2")
        }
    }

    @Test("33.3 The note that a purchase belongs to another customer follows it to another original")
    func originalOfANote() async throws {
        try await LedgerWorld.with { world in
            let token = UUID()
            _ = try await world.ledger.perform(AssignToken(app: "example", customerID: "alice", token: token))
            _ = try await world.claim("1", customer: "bob", try signed(0) { $0.originalTransactionID = "7" })
            try await world.observe(
                try signed(1) {
                    $0.originalTransactionID = "7"
                    $0.appAccountToken = token.uuidString
                })
            #expect(try await world.entitlement(of: "bob")?.reason == .ownedByAnother)
            try await world.observe(try signed(2) { $0.appAccountToken = token.uuidString })
            #expect(try await world.entitlement(of: "bob")?.reason == .ownedByAnother)
            #expect(try await world.entitlement(of: "alice")?.balance == 5)
            try await world.requireConsistency()
        }
    }

    @Test("The largest quantities are added up without an overflow", arguments: 1...3)
    func quantity(count: Int) async throws {
        try await LedgerWorld.with { world in
            for number in 1...count {
                let outcome = try await world.claim(
                    "\(number)", try LedgerWorld.signed("\(number)") { $0.quantity = 1_000_000_000 })
                #expect(outcome.code == "accepted")
            }
            #expect(try await world.entitlement()?.balance == Int64(count) * 1_000_000_000)
        }
    }
}
