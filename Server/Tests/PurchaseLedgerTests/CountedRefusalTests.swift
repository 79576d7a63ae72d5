import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Refusals beyond the daily budget, which are counted.
@Suite("Counted refusals", .tags(.everyEngine))
struct CountedRefusalTests {
    private static let key = "0123456789abcdef"

    private func restore(_ evidence: [[UInt8]], of customer: String = "alice") -> RestoreSubmission {
        var submission = RestoreSubmission(app: "example", customerID: customer, evidence: evidence)
        submission.keyID = Self.key
        return submission
    }

    private func forged(_ number: Int) -> [UInt8] { Array("forged \(1000 + number)\n".utf8) }

    /// A ledger whose budget for refusals has space for a few.
    private func with(_ budget: Int64 = 8000, _ body: (LedgerWorld) async throws -> Void) async throws {
        try await LedgerWorld.with(
            { $0.unverifiedEvidence = EvidenceBudget(bytesPerAppAndDay: 1 << 20, bytesPerKeyAndDay: budget) }, body)
    }

    /// Uses up the budget, and records what was counted meanwhile.
    private func useUp(_ world: LedgerWorld) async throws {
        for number in 0..<20 { _ = try await world.claim("\(number)", forged(number)) }
        try await world.ledger.recordCountedRefusals()
    }

    private func counted(_ world: LedgerWorld) async throws -> [SubmissionMessage] {
        try await world.submissions().filter { $0.refusals != nil }
    }

    @Test("B.3 Beyond the daily budget nothing is written for a refusal, and a minute of them is one entry of the key")
    func nothingIsWritten() async throws {
        try await with { world in
            try await useUp(world)
            #expect(try await world.submissions().count < 10)
            let before = try await DatabaseContent(world.database)
            let entries = try await counted(world).count
            for number in 0..<20 {
                let claim = try await world.claim("\(number)", customer: "new \(number)", forged(number))
                #expect(claim.isCounted && claim.code == "evidence_unrecognized" && claim.disposition == .retry)
                let blank = try await world.ledger.submit(world.submission(nil, nil))
                #expect(blank.isCounted && blank.code == "field_missing")
                var malformed = PurchaseSubmission(app: "example")
                (malformed.keyID, malformed.flaw) = (Self.key, Rejection(.bodyMalformed))
                malformed.keepMalformed(forged(number))
                #expect(try await world.ledger.submit(malformed).isCounted)
                for count in [1, 7] {
                    let restored = try await world.ledger.restore(
                        restore((0..<count).map { forged(100 * number + $0) }, of: "new \(number)"))
                    #expect(restored.counted == count && restored.refused.map(\.index) == Array(0..<count))
                    #expect(restored.refused.allSatisfy { $0.submissionID == nil && $0.disposition == .retry })
                }
                var flawed = EvidenceSubmission(app: "example", source: "restore", evidence: forged(number))
                (flawed.keyID, flawed.flaw) = (Self.key, Rejection(.fieldMissing, expected: "customer_id"))
                #expect(try await world.ledger.observe(flawed).isCounted)
            }
            #expect(try await DatabaseContent(world.database).differences(from: before) == [])
            world.clock.advance(seconds: 60)
            try await world.ledger.recordCountedRefusals()
            let entry = try #require(try await counted(world).first)
            #expect(try await counted(world).count == entries + 1)
            #expect(entry.refusals == 20 * (3 + 8 + 1) && entry.keyID == Self.key && entry.customerID == nil)
            #expect(entry.code == "evidence_unrecognized" && entry.verdict == .rejected && !entry.restore)
            #expect(entry.evidenceSHA256 == StorableEvidence(forged(19), isVerified: false).sha256.hexadecimal)
            #expect(entry.found?.hasPrefix("240 refusals beyond the daily budget since ") == true)
            let id = try #require(UUID(uuidString: entry.submissionID))
            #expect(try await world.ledger.answer(SubmissionByID(app: "example", submissionID: id))?.refusals == 240)
            // Nothing more was counted.
            let after = try await DatabaseContent(world.database)
            try await world.ledger.recordCountedRefusals()
            #expect(try await DatabaseContent(world.database).differences(from: after) == [])
            world.clock.advance(days: 1)
            #expect(try await !world.claim("1", forged(1)).isCounted)
        }
    }

    @Test(
        "B.3 Copies of genuine evidence for ever new customers, claimed, restored or with a flaw, use the budget of the key"
    )
    func genuineCopies() async throws {
        try await with(16_000) { world in
            let receipt = try LedgerWorld.coinReceipt(1)
            #expect(try await world.claim("1", receipt).code == "accepted")
            func rows(_ table: String) async throws -> Int {
                try await world.database.read(.lists) { try $0.rows("SELECT 1 FROM \(table)", []).count }
            }
            /// The same receipt, written in another way.
            func copy(_ number: Int) -> [UInt8] {
                Array(receipt[..<(4 * number + 4)]) + [0x0A] + receipt[(4 * number + 4)...]
            }
            #expect(try await world.claim("1", copy(0)).code == "accepted")
            for number in 1...40 {
                let claim = try await world.claim("1", customer: "thief \(number)", copy(number))
                #expect(claim.code == "already_claimed" && claim.disposition == .refused)
                let restored = try await world.ledger.restore(
                    restore([copy(50 + number), copy(100 + number), copy(150 + number)], of: "thief of \(number)"))
                #expect(restored.purchases.map(\.code) == ["already_claimed"] && restored.refused.isEmpty)
                #expect(restored.counted == 0 || restored.purchases.allSatisfy { $0.submissionID == nil })
                var flawed = EvidenceSubmission(app: "example", source: "restore", evidence: copy(200 + number))
                (flawed.keyID, flawed.flaw) = (Self.key, Rejection(.fieldMissing, expected: "customer_id"))
                _ = try await world.ledger.observe(flawed)
            }
            for (table, most) in [("journal", 20), ("evidence", 16), ("customers", 8), ("ownership_acts", 8)] {
                #expect(try await rows(table) <= most, "\(table)")
            }
            let before = try await DatabaseContent(world.database)
            _ = try await world.claim("1", customer: "thief 99", copy(300))
            _ = try await world.ledger.restore(restore([copy(301), copy(302)], of: "thief 99"))
            #expect(try await DatabaseContent(world.database).differences(from: before) == [])
            // Evidence that tells something new, and what belongs to the customer, needs no budget.
            let bought = try await world.claim("2", customer: "bob", try LedgerWorld.signed("2"))
            #expect(bought.code == "accepted" && !bought.isCounted)
            #expect(try await !world.claim("1", copy(303)).isCounted)
            let mixed = try await world.ledger.restore(
                restore([copy(304), try LedgerWorld.signed("3"), forged(1), copy(305)], of: "carol"))
            #expect(mixed.purchases.map(\.code).sorted() == ["accepted", "already_claimed"])
            #expect(mixed.counted == 3 && mixed.refused.map(\.index) == [2])
            #expect(mixed.purchases.allSatisfy { ($0.submissionID == nil) == ($0.code != "accepted") })
            #expect(try await world.entitlement(of: "carol")?.balance == 1)
            try await world.ledger.recordCountedRefusals()
            let recorded = try await counted(world)
            #expect(recorded.count == 1 && recorded.first?.code == "already_claimed")
        }
    }

    @Test("B.3 Each refusal is recorded once, also if the answer to the write of the counts is lost")
    func recordedOnce() async throws {
        try await TestEngine.withDatabases { database in
            let faulting = FaultingDatabase(database)
            var app = LedgerWorld.app()
            app.unverifiedEvidence = EvidenceBudget(bytesPerAppAndDay: 0, bytesPerKeyAndDay: 0)
            let world = try await LedgerWorld(faulting, apps: [app])
            var sent: Int64 = 0
            for faults: [FaultingDatabase.Fault] in [
                [.unreachable], [.storedCommit], [.lostCommit], Array(repeating: .storedCommit, count: 9),
                Array(repeating: .lostCommit, count: 9), [.conflict, .storedCommit, .unreachable], [],
            ] {
                for number in 0..<5 { _ = try await world.claim("\(number)", forged(number)) }
                sent += 5
                faulting.fail(faults)
                do {
                    try await world.ledger.recordCountedRefusals()
                } catch is LedgerStorageError {
                    // The next call records them.
                }
                faulting.fail([])
            }
            try await world.ledger.recordCountedRefusals()
            #expect(try await counted(world).compactMap(\.refusals).reduce(0, +) == sent)
            // A ledger under other settings goes on with the counts.
            _ = try await world.claim("1", forged(1))
            let changed = try await world.ledger.underSettings(
                apps: [LedgerWorld.app()], verifier: LedgerWorld.verifier())
            try await changed.recordCountedRefusals()
            #expect(try await counted(world).compactMap(\.refusals).reduce(0, +) == sent + 1)
            try await world.requireConsistency()
        }
    }

    @Test("B.3 Each key has its own entry, and requests that run at the same time are counted exactly")
    func concurrent() async throws {
        try await with(0) { world in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        var submission = world.submission("\(number)", forged(number))
                        submission.keyID = "key \(number % 3)"
                        let outcome = try await world.ledger.submit(submission)
                        #expect(outcome.isCounted)
                    }
                    group.addTask { try await world.ledger.recordCountedRefusals() }
                }
                try await group.waitForAll()
            }
            try await world.ledger.recordCountedRefusals()
            for number in 0..<3 {
                let entries = try await counted(world).filter { $0.keyID == "key \(number)" }
                #expect(entries.compactMap(\.refusals).reduce(0, +) == 20)
            }
        }
    }

    @Test("B.3 The budget counts at least what refusals take in the database, with their leaves and after sealing")
    func wholeCost() async throws {
        try await SealedWorld.with { sealed in
            let (world, database) = (sealed.world, sealed.database)
            func size() async throws -> Int64 {
                let counts = try await database.read(.lists) { connection in
                    try ["page_count", "page_size", "freelist_count"].map { name in
                        guard case .integer(let number)? = try connection.rows("PRAGMA \(name)", []).first?.values.first
                        else { return Int64(0) }
                        return number
                    }
                }
                return (counts[0] - counts[2]) * counts[1]
            }
            func charged() async throws -> Int64 {
                try await database.read(.lists) { connection in
                    guard
                        case .integer(let bytes)? = try connection.rows(
                            "SELECT max(bytes) FROM unverified_evidence WHERE key_id <> ''", []
                        ).first?.values.first
                    else { return 0 }
                    return bytes
                }
            }
            let receipt = try LedgerWorld.coinReceipt(1)
            #expect(try await world.claim("1", receipt).code == "accepted")
            var random = SeededGenerator(seed: 3)
            func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
            let long = String(repeating: "x", count: 240)
            let forms: [(name: String, send: (Int) async throws -> Void)] = [
                ("claims without evidence", { _ in _ = try await world.ledger.submit(world.submission(nil, nil)) }),
                (
                    "claims with long fields",
                    { number in
                        _ = try await world.claim("\(long)\(number)", product: long, customer: long, noise(12))
                    }
                ),
                ("claims of 3 kB", { number in _ = try await world.claim("\(number)", noise(3000)) }),
                (
                    "restores of 90 pieces",
                    { number in
                        guard number % 20 == 0 else { return }
                        _ = try await world.ledger.restore(restore((0..<90).map { _ in noise(12) }))
                    }
                ),
                (
                    "genuine copies for new customers",
                    { number in
                        let copy = Array(receipt[..<(4 * number + 4)]) + [0x0A] + receipt[(4 * number + 4)...]
                        _ = try await world.claim("1", customer: "\(long)\(number)", copy)
                    }
                ),
            ]
            for (name, send) in forms {
                let before = (try await size(), try await charged())
                for number in 0..<200 { try await send(number) }
                try await sealed.sealing.round()
                let (taken, paid) = (try await size() - before.0, try await charged() - before.1)
                print("B.3 \(name): \(taken) bytes in the database, \(paid) charged")
                #expect(taken <= paid + 16_384, "\(name)")
            }
        }
    }
}
