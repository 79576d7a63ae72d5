import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// How refused claims, customers and numbers are found.
@Suite("What support finds")
struct RefusedClaimSearchTests {
    private let forged = Array("forged".utf8)

    private func claims(_ world: LedgerWorld, of transaction: String) async throws -> [SubmissionMessage] {
        var filter = SubmissionFilter()
        filter.transactionID = transaction
        return try await world.submissions(filter)
    }

    private func claims(_ world: LedgerWorld, by customer: String) async throws -> [SubmissionMessage] {
        var filter = SubmissionFilter()
        filter.customerID = customer
        return try await world.submissions(filter)
    }

    private func found(_ world: LedgerWorld, _ text: String) async throws -> [String] {
        try await world.ledger.answer(CustomerSearch(app: "example", text: text, limit: 10)).map(\.customerID)
    }

    private func transactions(_ world: LedgerWorld, _ text: String) async throws -> [String] {
        try await world.ledger.answer(TransactionSearch(app: "example", text: text, limit: 10)).map {
            "\($0.transactionID)\($0.isPurchase ? "" : " refused")"
        }
    }

    @Test("A claim that does not verify is found by the customer and transaction of its request, until an erasure")
    func names() async throws {
        try await LedgerWorld.with { world in
            #expect(try await world.claim("70077", customer: "Nova", forged).code == "evidence_unrecognized")
            let order = try await world.order("orla")
            _ = try await world.claim("70078", customer: nil, order: order.id, forged)
            _ = try await world.claim("70079", customer: "a\u{7}b", forged)
            #expect(try await claims(world, by: "Nova").map(\.transactionID) == ["70077"])
            #expect(try await claims(world, by: "orla").map(\.transactionID) == ["70078"])
            #expect(try await claims(world, of: "70077").map(\.customerID) == ["Nova"])
            #expect(try await claims(world, of: "70078").map(\.customerID) == ["orla"])
            #expect(try await transactions(world, "700") == ["70077 refused", "70078 refused"])
            #expect(try await found(world, "nov") == ["Nova"])
            // Once the purchase is known, its own claims come from two indexes.
            try await world.observe(try LedgerWorld.signed("70077"))
            _ = try await world.claim("70077", customer: "alice", try LedgerWorld.signed("70077"))
            #expect(try await claims(world, of: "70077").map(\.code) == ["accepted", "evidence_unrecognized"])
            #expect(try await transactions(world, "70077") == ["70077"])
            for name in ["Nova", "orla"] {
                try await world.requireConsistency()
                _ = try await world.ledger.perform(EraseCustomer(app: "example", customerID: name, reason: "asked"))
            }
            #expect(try await claims(world, of: "70077").map(\.code) == ["accepted"])
            #expect(try await claims(world, by: "Nova").isEmpty)
            #expect(try await found(world, "nov").isEmpty)
            #expect(try await transactions(world, "7007") == ["70077"])
            try await world.rebuilt { rebuilt in
                let found = try await transactions(rebuilt, "7007")
                #expect(found == ["70077"])
            }
        }
    }

    @Test("Of each customer and day, 20 refused claims are found by their transaction; all are found by the customer")
    func bound() async throws {
        try await LedgerWorld.with { world in
            for number in 0..<25 { _ = try await world.claim("9", customer: "mallory", forged + "\(number)".utf8) }
            _ = try await world.claim("9", customer: "bob", forged)
            #expect(try await claims(world, of: "9").count == 21)
            #expect(try await claims(world, by: "mallory").count == 25)
            world.clock.advance(days: 1)
            _ = try await world.claim("9", customer: "mallory", forged)
            #expect(try await claims(world, of: "9").count == 22)
            // What a rebuild finds is what was there.
            try await world.rebuilt { rebuilt in
                let found = try await claims(rebuilt, of: "9")
                #expect(found.count == 22)
            }
        }
    }

    @Test("A search folds case and accents, and finds what begins with a name or a number")
    func similar() async throws {
        try await LedgerWorld.with { world in
            for name in ["Zoé@Example.com", "Zoe@Example.com", "zoe@example.com", "ZOE\u{301}LLE", "Straße 7", "zob"] {
                _ = try await world.ledger.perform(
                    GrantByHand(app: "example", customerID: name, productID: LedgerWorld.pro, reason: "test"))
            }
            let all = ["zoe@example.com", "Zoé@Example.com", "Zoe@Example.com"]
            #expect(try await Set(found(world, "zoe@example.com")) == Set(all))
            #expect(try await found(world, "zoe@example.com").first == "zoe@example.com")
            #expect(try await found(world, "Zoé@").first == "Zoé@Example.com")
            #expect(try await Set(found(world, "ZOÉ")) == Set(all + ["ZOE\u{301}LLE"]))
            #expect(try await found(world, "STRASSE") == ["Straße 7"])
            #expect(try await found(world, "zoz").isEmpty)
            #expect(try await found(world, "").count == 6)
            let order = try await world.order("orla")
            let digits = order.id.uuidString
            #expect(try await found(world, String(digits.prefix(13))) == ["orla"])
            #expect(try await found(world, digits.lowercased()) == ["orla"])
            #expect(try await found(world, String(digits.prefix(3))).isEmpty)
            for id in ["200001", "200002", "3"] { try await world.observe(try LedgerWorld.signed(id)) }
            #expect(try await transactions(world, "2000") == ["200001", "200002"])
            #expect(try await transactions(world, "4").isEmpty)
        }
    }
}
