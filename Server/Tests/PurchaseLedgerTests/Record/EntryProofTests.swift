import Foundation
import PurchaseLedger
import PurchaseVerification
import Testing

@Suite("Proofs of entries", .sealed)
struct EntryProofTests {
    let world: SealedWorld = CurrentWorld.opened()

    @Test("A submission is proven with its evidence in one file, which is checked without the database")
    func proof() async throws {
        let evidence = try LedgerWorld.signed("1")
        let outcome = try await world.world.claim("1", evidence)
        try await world.write(280)
        try await world.sealing.round()
        let query = ProveEntry(entryID: outcome.submissionID, checkpoint: try world.published())
        let json = try await world.world.ledger.answer(query).json
        let proven = try EntryProof(json: json).verify(keys: [world.signer.verifier])
        #expect(proven.evidence == evidence && proven.entry.id == outcome.submissionID && proven.entry.kind == .claim)
        #expect(proven.entry.code == "accepted" && proven.checkpoint == world.signer.head)
        let details = try #require(proven.details)
        #expect(String(decoding: details, as: UTF8.self).contains("alice"))
        // With an older checkpoint that covers the entry, and from a log that has grown since.
        try await world.write(300)
        try await world.sealing.round()
        let again = try await world.world.ledger.answer(query)
        #expect(try again.json == json)
        let newer = try await world.world.ledger.answer(
            ProveEntry(entryID: outcome.submissionID, checkpoint: try world.published()))
        #expect(try newer.verify(keys: [world.signer.verifier]).leafNumber == proven.leafNumber)
    }

    @Test("Every entry of a log can be proven")
    func everyEntry() async throws {
        try await world.write(258)
        try await world.sealing.round()
        let checkpoint = try world.published()
        let ids = try await world.database.read(.lists) { connection in
            try connection.rows("SELECT entry_id FROM journal", []).compactMap { row -> UUID? in
                guard case .blob(let bytes)? = row.values.first else { return nil }
                return UUID(bytes: bytes)
            }
        }
        var leaves: Set<Int64> = []
        for id in ids {
            let proof = try await world.world.ledger.answer(ProveEntry(entryID: id, checkpoint: checkpoint))
            let proven = try proof.verify(keys: [world.signer.verifier])
            #expect(proven.entry.id == id)
            leaves.insert(proven.leafNumber)
        }
        #expect(leaves == Set(0..<checkpoint.checkpoint.size))
    }

    @Test("A proof with any flipped bit, any prefix of it, and one for another key are refused")
    func changes() async throws {
        let outcome = try await world.world.claim("1", try LedgerWorld.signed("1"))
        try await world.write(5)
        try await world.sealing.round()
        let json = try await world.world.ledger.answer(
            ProveEntry(entryID: outcome.submissionID, checkpoint: try world.published())
        ).json
        let keys = [world.signer.verifier]
        _ = try EntryProof(json: json).verify(keys: keys)
        var accepted: [Int] = []
        for index in json.indices {
            // One bit of each byte, each bit in turn: all of them of a file with 10 kB of evidence would take
            // minutes.
            var changed = json
            changed[index] ^= 1 << UInt8(index % 8)
            if logFailure({ try EntryProof(json: changed).verify(keys: keys) }) == nil { accepted.append(index) }
        }
        #expect(accepted == [])
        for count in stride(from: 0, to: json.count - 1, by: 37) {
            #expect(logFailure { try EntryProof(json: Array(json.prefix(count))) } == .malformed)
        }
        let other = try LogSigningKey(newFor: "example.com/assay").verifier
        #expect(logFailure { try EntryProof(json: json).verify(keys: [other]) } == .keyUnknown)
        #expect(logFailure { try EntryProof(json: json).verify(keys: []) } == .keyUnknown)
    }

    @Test("An entry outside of the checkpoint's log is not proven, with the reason")
    func refusals() async throws {
        try await world.write(3)
        try await world.sealing.round()
        let checkpoint = try world.published()
        let outcome = try await world.world.claim("1", try LedgerWorld.signed("1"))
        let ledger = world.world.ledger
        func prove(_ id: UUID, _ checkpoint: SignedCheckpoint) async throws {
            _ = try await ledger.answer(ProveEntry(entryID: id, checkpoint: checkpoint))
        }
        #expect(await logFailure { try await prove(UUID(), checkpoint) } == .entryUnknown)
        #expect(await logFailure { try await prove(outcome.submissionID, checkpoint) } == .notSealed)
        try await world.sealing.round()
        #expect(await logFailure { try await prove(outcome.submissionID, checkpoint) } == .notSealed)
        try await prove(outcome.submissionID, try world.published())
        let key = try LogSigningKey(newFor: "example.com/assay")
        func signed(_ size: Int64) throws -> SignedCheckpoint {
            try key.signed(Checkpoint(origin: "example.com/assay", size: size, root: .leaf([1])))
        }
        #expect(await logFailure { try await prove(outcome.submissionID, try signed(1_000_000)) } == .shorter)
        let size = checkpoint.checkpoint.size + 1
        #expect(await logFailure { try await prove(outcome.submissionID, try signed(size)) } == .rewritten)
    }

    @Test("Hostile files are refused within bounds")
    func hostile() async {
        for text in [
            "", "{}", "[]", "null", "{\"format\":\"assay-entry-proof/1\"}", String(repeating: "[", count: 100_000),
            "{\"format\":\"assay-entry-proof/2\",\"checkpoint\":\"\",\"leaf\":\"\",\"leaf_number\":0,\"path\":[],"
                + "\"salt\":null,\"details\":null,\"evidence\":null}",
            "{\"" + String(repeating: "\u{301}\u{316}", count: 50_000) + "\":1}",
        ] {
            #expect(logFailure { try EntryProof(json: Array(text.utf8)) } == .malformed, "\(text.prefix(60))")
        }
    }
}
