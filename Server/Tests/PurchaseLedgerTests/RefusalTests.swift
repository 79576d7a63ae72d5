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

    @Test("B.3 All refused pieces of one restore make one entry, which lists, erasure and audit know")
    func oneEntry() async throws {
        try await LedgerWorld.with { world in
            var evidence = pieces(90)
            evidence.insert(try LedgerWorld.signed("1"), at: 40)
            let restored = try await world.ledger.restore(restore(evidence))
            #expect(restored.purchases.map(\.code) == ["accepted"])
            #expect(restored.refused.map(\.index) == (0..<91).filter { $0 != 40 })
            #expect(Set(restored.refused.map(\.submissionID)).count == 1)
            #expect(try await entries(world) == 2)
            let listed = try await world.submissions()
            #expect(
                listed.count == 2 && listed.contains { $0.submissionID == restored.refused.first?.submissionID?.text })
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
            _ = try await world.ledger.perform(
                EraseCustomer(app: "example", customerID: "alice", reason: "asked by letter"))
            #expect(try await world.ledger.answer(EvidenceByHash(sha256: hash)) == nil)
            let erased = try await world.ledger.answer(SubmissionByID(app: "example", submissionID: id))
            #expect(erased?.erased == true && erased?.customerID == nil)
        }
    }

    @Test("B.3 A single refused piece is an entry like that of a claim, with its evidence")
    func single() async throws {
        try await LedgerWorld.with { world in
            let evidence = pieces(1)
            let restored = try await world.ledger.restore(restore(evidence))
            let id = try #require(restored.refused.first?.submissionID)
            let stored = try await world.ledger.answer(EvidenceOfEntry(app: "example", entryID: id))
            #expect(stored?.bytes == evidence[0])
        }
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

    @Test("B.3 The bytes that 90 pieces of 12 random bytes write")
    func cost() async throws {
        try await TemporaryFolder.with { folder in
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
}
