import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The cost of refused evidence.
@Suite("Refused evidence of restores", .tags(.everyEngine))
struct RefusalTests {
    var folder: URL { CurrentWorld.opened() }
    var world: LedgerWorld { CurrentWorld.opened() }

    private func pieces(_ count: Int, from first: Int = 0) -> [[UInt8]] {
        (0..<count).map { Array("forged \(1000 + first + $0)\n".utf8) }
    }

    private func restore(_ evidence: [[UInt8]], of customer: String = "alice") -> RestoreSubmission {
        var submission = RestoreSubmission(app: "example", customerID: customer, evidence: evidence)
        submission.keyID = "0123456789abcdef"
        submission.sourceAddress = "192.0.2.1"
        return submission
    }

    private func entries(_ world: LedgerWorld) async throws -> Int {
        try await world.database.read(.lists) {
            try $0.rows("SELECT entry_key FROM journal WHERE kind IN (3, 48)", []).count
        }
    }

    @Test("B.3 All refused pieces of one restore make one entry, which lists, erasure and audit know", .ledger)
    func oneEntry() async throws {
        var evidence = pieces(90)
        evidence.insert(try LedgerWorld.signed("1"), at: 40)
        let restored = try await world.ledger.restore(restore(evidence))
        #expect(restored.purchases.map(\.code) == ["accepted"])
        #expect(restored.refused.map(\.index) == (0..<91).filter { $0 != 40 })
        #expect(Set(restored.refused.map(\.submissionID)).count == 1)
        #expect(try await entries(world) == 2)
        let listed = try await world.submissions()
        #expect(listed.count == 2 && listed.contains { $0.submissionID == restored.refused.first?.submissionID?.text })
        for change: (inout SubmissionFilter) -> Void in [
            { $0.verdict = .rejected }, { $0.customerID = "alice" }, { $0.code = "evidence_unrecognized" },
        ] {
            var filter = SubmissionFilter()
            change(&filter)
            let found = try await world.submissions(filter).first { $0.found == "90 refused pieces of evidence" }
            #expect(found?.keyID == "0123456789abcdef" && found?.restore == true && found?.customerID == "alice")
        }
        let id = try #require(restored.refused.first?.submissionID)
        let record = try await world.ledger.answer(SubmissionByID(app: "example", submissionID: id))
        #expect(record?.verdict == .rejected && record?.erased == false)
        let hash = StorableEvidence(evidence[0], isVerified: false).sha256
        #expect(try await world.ledger.answer(EvidenceByHash(sha256: hash)) == evidence[0])
        try await world.requireConsistency()
        try await world.erase("alice")
        #expect(try await world.ledger.answer(EvidenceByHash(sha256: hash)) == nil)
        let erased = try await world.ledger.answer(SubmissionByID(app: "example", submissionID: id))
        #expect(erased?.erased == true && erased?.customerID == nil)
    }

    @Test("B.3 A single refused piece is an entry like that of a claim, with its evidence", .ledger)
    func single() async throws {
        let evidence = pieces(1)
        let restored = try await world.ledger.restore(restore(evidence))
        let id = try #require(restored.refused.first?.submissionID)
        let stored = try await world.ledger.answer(EvidenceOfEntry(app: "example", entryID: id))
        #expect(stored?.bytes == evidence[0])
    }

    @Test("B.3 Beyond the daily budget, the pieces of a restore are counted, and the next day they are recorded again")
    func budget() async throws {
        let budget = EvidenceBudget(bytesPerAppAndDay: 1 << 20, bytesPerKeyAndDay: 60_000)
        try await LedgerWorld.with({ $0.unverifiedEvidence = budget }) { world in
            func rows() async throws -> Int {
                try await world.database.read(.lists) { try $0.rows("SELECT evidence_key FROM evidence", []).count }
            }
            for round in 0..<6 { _ = try await world.ledger.restore(restore(pieces(90, from: round * 90))) }
            let before = try await rows()
            #expect((90...270).contains(before))
            let restored = try await world.ledger.restore(restore(pieces(90, from: 5000)))
            #expect(restored.refused.count == 90 && restored.counted == 90)
            #expect(try await rows() == before)
            #expect(try await entries(world) < 4)
            world.clock.advance(days: 1)
            _ = try await world.ledger.restore(restore(pieces(90, from: 6000)))
            #expect(try await rows() == before + 90)
        }
    }

    @Test("B.3 The budget counts each entry about refused evidence, also about bytes that were stored before")
    func repeated() async throws {
        let budget = EvidenceBudget(bytesPerAppAndDay: 1 << 20, bytesPerKeyAndDay: 20_000)
        try await LedgerWorld.with({ $0.unverifiedEvidence = budget }) { world in
            let forged = Array("forged".utf8)
            for number in 0..<20 { _ = try await world.claim("\(number)", forged) }
            var random = SeededGenerator(seed: 27)
            let whole = (0..<4000).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(try await world.claim("30", whole).isCounted)
        }
    }

    @Test("B.3 The bytes that 90 pieces of 12 random bytes write", .folder)
    func cost() async throws {
        let file = folder.appending(path: "assay.sqlite")
        let database = try SQLiteDatabase(path: file.path)
        let world = try await LedgerWorld(database)
        func size() async throws -> Int {
            let counts = try await database.read(.lists) { connection in
                try ["page_count", "page_size", "freelist_count"].map { name in
                    guard case .integer(let number)? = try connection.rows("PRAGMA \(name)", []).first?.values.first
                    else { return 0 }
                    return Int(number)
                }
            }
            return (counts[0] - counts[2]) * counts[1]
        }
        var random = SeededGenerator(seed: 26)
        func pieces() -> [[UInt8]] {
            (0..<90).map { _ in (0..<12).map { _ in UInt8.random(in: 0...255, using: &random) } }
        }
        _ = try await world.ledger.restore(restore(pieces()))
        let before = try await size()
        for number in 0..<20 { _ = try await world.ledger.restore(restore(pieces(), of: "customer \(number)")) }
        let written = try await size() - before
        // In JSON, a piece of 12 bytes takes 16 characters in base64, two quotation marks and a comma.
        let sent = 20 * 90 * 19
        print("refusals: \(written) bytes written for \(sent) sent, \(Double(written) / Double(sent)) each")
        #expect(written < 16 * sent)
        try await database.close()
    }
}

/// How refused claims, customers and numbers are found.
@Suite("What support finds", .ledger)
struct RefusedClaimSearchTests {
    let world: LedgerWorld = CurrentWorld.opened()

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
            try await world.erase(name)
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

    @Test("Of each customer and day, 20 refused claims are found by their transaction; all are found by the customer")
    func bound() async throws {
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

    @Test("A search folds case and accents, and finds what begins with a name or a number")
    func similar() async throws {
        for name in ["Zoé@Example.com", "Zoe@Example.com", "zoe@example.com", "ZOE\u{301}LLE", "Straße 7", "zob"] {
            try await world.grant(LedgerWorld.pro, to: name)
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
