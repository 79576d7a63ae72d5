import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Stored evidence", .tags(.everyEngine))
struct EvidenceStorageTests {
    var folder: URL { CurrentWorld.opened() }
    var world: LedgerWorld { CurrentWorld.opened() }

    private func forged(_ number: Int, bytes: Int = 0) throws -> [UInt8] {
        var evidence = try LedgerWorld.signed("\(number)")
        // The signature comes last.
        evidence[evidence.count - 20] = evidence[evidence.count - 20] == 65 ? 66 : 65
        var generator = SeededGenerator(seed: UInt64(number))
        return evidence + (0..<bytes).map { _ in UInt8.random(in: 33...126, using: &generator) }
    }

    private func count(_ table: String, _ world: LedgerWorld) async throws -> Int64 {
        try await world.database.read(.keys) { connection in
            guard case .integer(let count)? = try connection.rows("SELECT count(*) FROM \(table)", []).first?.values[0]
            else { return -1 }
            return count
        }
    }

    private func stored(_ outcome: PurchaseOutcome, _ world: LedgerWorld) async throws -> [UInt8]? {
        let query = EvidenceOfEntry(app: "example", entryID: outcome.submissionID)
        return try await world.ledger.answer(query).flatMap { $0.isWhole ? $0.bytes : nil }
    }

    @Test("Certificates of verified evidence are stored once; those of other evidence are not shared", .ledger)
    func sharedParts() async throws {
        for number in 0..<5 {
            let evidence = try LedgerWorld.signed("\(100 + number)")
            let outcome = try await world.claim("\(100 + number)", evidence)
            #expect(try await stored(outcome, world) == evidence)
        }
        #expect(try await count("evidence_parts", world) == 1)
        _ = try await world.claim("7", try LedgerWorld.receipt(MintedWorld.purchases()))
        #expect(try await count("evidence_parts", world) == 2)
        let other = try AppReceiptEncoder(authority: MintedWorld.otherAuthority()).encode(MintedWorld.receipt())
        #expect(try await world.claim("8", Array(Data(other).base64EncodedData())).verdict == .rejected)
        #expect(try await count("evidence_parts", world) == 2)
    }

    @Test("A rollback removes the shared part of its write, and the next purchase stores it again", .ledger)
    func rolledBack() async throws {
        struct Stop: Error {}
        struct KeepAndStop: LedgerOperation {
            let evidence: StorableEvidence

            func perform(_ transaction: LedgerTransaction) throws {
                _ = try transaction.keep(evidence, app: nil, keyID: nil)
                throw Stop()
            }
        }
        let evidence = try LedgerWorld.signed("1")
        await #expect(throws: Stop.self) {
            try await world.ledger.perform(KeepAndStop(evidence: StorableEvidence(evidence, isVerified: true)))
        }
        #expect(try await count("evidence_parts", world) == 0)
        let outcome = try await world.claim("1", evidence)
        #expect(try await stored(outcome, world) == evidence)
        #expect(try await count("evidence_parts", world) == 1)
    }

    @Test("A changed shared part is found, and evidence that needs it cannot be read as other evidence", .folder)
    func changedPart() async throws {
        let world = try await LedgerWorld(SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path))
        let outcome = try await world.claim("1", try LedgerWorld.signed("1"))
        try await world.database.write { connection in
            try connection.execute("DROP TRIGGER evidence_parts_no_update", [])
            try connection.execute("UPDATE evidence_parts SET content = CAST(content || 'A' AS BLOB)", [])
        }
        #expect(try await world.ledger.audit().findings.contains { $0.kind == .evidenceChanged })
        await #expect(throws: LedgerStorageError.self) { try await stored(outcome, world) }
        try await world.database.close()
    }

    @Test(
        "An erasure deletes the parts that nobody else has, and whoever stores the next evidence of the signer stores them again"
    )
    func erasedParts() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let world = try await LedgerWorld(SQLiteDatabase(path: path))
            // Another process, which does not share the first one's memory.
            let other = try await LedgerWorld(SQLiteDatabase(path: path))
            let query = "SELECT 1 FROM evidence_parts WHERE content IS NOT NULL"
            func parts() async throws -> Int {
                try await world.database.read(.keys) { try $0.rows(query, []).count }
            }
            let receipt = try LedgerWorld.receipt(MintedWorld.purchases())
            try await world.restore(of: "alice", [receipt])
            for number in 0..<600 {
                _ = try await world.claim("\(number + 100)", customer: "bob", try LedgerWorld.signed("\(number + 100)"))
            }
            _ = try await world.claim("1", customer: "alice", try LedgerWorld.signed("1"))
            #expect(try await parts() == 2)
            try await other.erase("alice")
            // The signer of the receipt is removed; that of the signed transactions has other customers.
            #expect(try await parts() == 1)
            let sent = try await world.claim("9", customer: "carol", receipt)
            #expect(try await stored(sent, world) == receipt)
            #expect(try await parts() == 2)
            #expect(try await world.ledger.audit().findings == [])
            try await other.database.close()
            try await world.database.close()
        }
    }

    @Test("Erased evidence that is sent again is stored again", .ledger)
    func erasedAndSentAgain() async throws {
        let evidence = try LedgerWorld.signed("1")
        let outcome = try await world.claim("1", evidence)
        _ = try await world.database.write { connection in
            try connection.execute("UPDATE evidence SET content = NULL", [])
        }
        #expect(try await stored(outcome, world) == nil)
        _ = try await world.claim("1", evidence)
        #expect(try await stored(outcome, world) == evidence)
        await #expect(throws: LedgerStorageError.self) {
            _ = try await world.database.write { connection in
                try connection.execute("UPDATE evidence SET content = x'00'", [])
            }
        }
    }

    @Test("Forged evidence is stored whole as far as the daily budget of its key goes, and again on the next day")
    func keyBudget() async throws {
        try await LedgerWorld.with({ $0.unverifiedEvidence = EvidenceBudget(bytesPerKeyAndDay: 10_000) }) { world in
            var whole = 0
            for number in 0..<20 {
                let evidence = try forged(number, bytes: 2000)
                let outcome = try await world.claim("\(number)", evidence)
                let stored = try await stored(outcome, world)
                #expect(stored == nil || stored == evidence)
                whole += stored == nil ? 0 : 1
            }
            #expect((1...5).contains(whole))
            // Another key has its own budget, and genuine evidence needs none, even for a rejected claim.
            var submission = world.submission("50", try forged(50, bytes: 2000))
            submission.keyID = "fedcba9876543210"
            #expect(try await stored(try await world.ledger.submit(submission), world) != nil)
            let genuine = try LedgerWorld.signed("51")
            #expect(try await stored(try await world.claim("52", genuine), world) == genuine)
            world.clock.advance(days: 1)
            #expect(try await stored(try await world.claim("60", try forged(60, bytes: 2000)), world) != nil)
            #expect(try await world.ledger.audit().findings.isEmpty)
        }
    }

    @Test("All keys of an app share its budget, and evidence without a key also counts")
    func appBudget() async throws {
        let budget = EvidenceBudget(bytesPerAppAndDay: 9000, bytesPerKeyAndDay: 1 << 20)
        try await LedgerWorld.with({ $0.unverifiedEvidence = budget }) { world in
            var whole = 0
            for number in 0..<12 {
                var submission = world.submission("\(number)", try forged(number, bytes: 2000))
                submission.keyID = "key \(number)"
                whole += try await stored(try await world.ledger.submit(submission), world) == nil ? 0 : 1
            }
            #expect((1...4).contains(whole))
            let observed = try await world.ledger.observe(
                EvidenceSubmission(app: "example", source: "notification", evidence: try forged(30, bytes: 2000)))
            #expect(observed.isCounted)
        }
    }

    @Test("Evidence stored as a prefix is completed when it verifies; complete evidence is never shortened", .folder)
    func prefixBecomesWhole() async throws {
        // No entry names the evidence, so its audit would have findings.
        let world = try await LedgerWorld(SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path))
        let evidence = try LedgerWorld.signed("1")
        let forms = try await world.database.write { connection in
            let store = EvidenceStore(connection: connection)
            var forms: [Bool] = []
            for (isVerified, allowance) in [(false, 0), (false, nil), (true, 0), (false, 0)] as [(Bool, Int64?)] {
                let kept = try store.keep(StorableEvidence(evidence, isVerified: isVerified), allowance: allowance)
                forms.append(kept.evidence.isPrefix)
            }
            let hash = StorableEvidence(evidence, isVerified: true).sha256
            #expect(try store.bytes(sha256: hash) == evidence)
            return forms
        }
        #expect(forms == [true, true, false, false])
        try await world.database.close()
    }

    @Test("Genuine evidence that was replaced by its first kilobyte is found", .folder)
    func replacedByPrefix() async throws {
        let world = try await LedgerWorld(SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path))
        let evidence = try LedgerWorld.signed("1")
        _ = try await world.claim("1", evidence)
        // The second entry proves nothing new, so a rebuild does not need the evidence.
        _ = try await world.claim("1", evidence)
        try await world.database.write { connection in
            try connection.execute("UPDATE evidence SET content = NULL", [])
            try connection.execute(
                "UPDATE evidence SET content = ?1",
                [.blob(StoredContent.sealed(.prefix, Array(evidence.prefix(1024))))])
        }
        let findings = try await world.ledger.audit().findings
        #expect(findings.count { $0.kind == .evidenceChanged } == 2, "\(findings)")
        try await world.database.close()
    }

    @Test("A rebuild does not need the bytes of unverified evidence", .folder)
    func rebuildWithoutForgeries() async throws {
        let world = try await LedgerWorld(SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path))
        let forgeries = [try forged(2), try forged(3)]
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        _ = try await world.claim("2", forgeries[0])
        try await world.observe(forgeries[1])
        _ = try await world.claim("4", try LedgerWorld.signed("4"))
        #expect(try await world.ledger.audit().findings.isEmpty)
        try await world.database.write { connection in
            for evidence in forgeries {
                try connection.execute(
                    "UPDATE evidence SET content = NULL WHERE sha256 = ?1",
                    [.blob(StorableEvidence(evidence, isVerified: false).sha256)])
            }
        }
        // Missing evidence is reported, and every table equals its rebuild.
        let kinds = try await world.ledger.audit().findings.map(\.kind)
        #expect(kinds == [.missingWithoutErasure, .missingWithoutErasure])
        try await world.database.close()
    }
}
