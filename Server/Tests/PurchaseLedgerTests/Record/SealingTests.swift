import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Sealing", .tags(.everyEngine), .sealed)
struct SealingTests {
    var folder: URL { CurrentWorld.opened() }
    var parent: URL { CurrentWorld.opened() }
    let world: SealedWorld = CurrentWorld.opened()

    @Test("A round seals every entry and publishes a checkpoint of the tree; the next round does nothing")
    func round() async throws {
        try await world.write(300)
        let entries = try await world.number("SELECT count(*) FROM journal")
        let round = try await world.sealing.round()
        #expect(round.sealed == Int(entries) && round.refused == [] && round.checkpoint?.checkpoint.size == entries)
        #expect(try world.published() == round.checkpoint)
        #expect(try await world.number(SealedWorld.pending) == 0)
        #expect(try await world.number("SELECT count(*) FROM log_tiles") == entries / 256)
        #expect(try await world.audit([try world.published().checkpoint]) == [])
        let idle = try await world.sealing.round()
        #expect(idle.sealed == 0 && idle.refused == [] && idle.checkpoint == nil)
        try await world.write(1)
        #expect(try await world.sealing.round().checkpoint?.checkpoint.size == entries + 1)
        #expect(try await world.audit([try #require(round.checkpoint).checkpoint]) == [])
    }

    @Test("An entry that was put below a sealed one gets no leaf, and the audit reports it")
    func belowTheMark() async throws {
        try await world.write(5)
        try await world.sealing.round()
        let last = try await world.number("SELECT max(entry_key) FROM journal")
        try await world.tamper([
            "UPDATE log_state SET sealed_up_to = \(last + 2)",
            "INSERT INTO journal SELECT \(last + 1), randomblob(16), leaf, salt, details, app_key, customer_key, "
                + "order_key, transaction_key, evidence_key, kind, code, at, mac FROM journal WHERE entry_key = \(last)",
        ])
        let round = try await world.sealing.round()
        #expect(round.sealed == 0 && round.refused == [])
        #expect(try await world.audit() == [.entryForgotten])
    }

    @Test("Rounds of several servers at once number every entry once")
    func severalSealers() async throws {
        let ledger = world.world.ledger
        let others = try (0..<3).map { _ in try LogSealing(ledger: ledger, signer: nil) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sealing in others + [world.sealing] {
                group.addTask {
                    for _ in 0..<20 { try await sealing.round() }
                }
            }
            group.addTask {
                for _ in 0..<200 { _ = try await world.world.order() }
            }
            try await group.waitForAll()
        }
        try await world.sealing.round()
        let entries = try await world.number("SELECT count(*) FROM journal")
        #expect(try world.published().checkpoint.size == entries)
        #expect(try await world.audit([try world.published().checkpoint]) == [])
    }

    /// `ASSAY_KILL_ROUNDS` sets the number of rounds.
    private static let rounds = ProcessInfo.processInfo.environment["ASSAY_KILL_ROUNDS"].flatMap { Int($0) } ?? 40

    @Test(
        "After a crash at any step, no size is signed with two roots, and no entry is skipped",
        .folder, arguments: [1, 2, 3, 4] as [UInt64])
    func crashes(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let first = parent.appending(path: "first")
        try FileManager.default.createDirectory(at: first, withIntermediateDirectories: true)
        var world = try await SealedWorld(first)
        let verifier = world.signer.verifier
        var signed: [Int64: Set<MerkleHash>] = [:]
        var notes: [Int64: Set<[UInt8]>] = [:]
        var published: [Checkpoint] = []
        for step in 0..<Self.rounds {
            try await world.write(Int.random(in: 0...30, using: &generator))
            // A round ends after one, two or all of its steps.
            let steps = Int.random(in: 0...3, using: &generator)
            if steps > 0 { _ = try await world.sealing.seal() }
            if steps > 1, let checkpoint = try await world.sealing.sign() {
                signed[checkpoint.checkpoint.size, default: []].insert(checkpoint.checkpoint.root)
                notes[checkpoint.checkpoint.size, default: []].insert(checkpoint.note)
                if steps > 2 {
                    try await world.sealing.publish(checkpoint)
                    published.append(checkpoint.checkpoint)
                }
            }
            guard step % 2 == 0 else { continue }
            let copy = try world.crashed(into: parent)
            try await world.database.close()
            world = try await SealedWorld(copy, clock: world.world.clock)
            #expect(world.signer.verifier == verifier)
        }
        try await world.sealing.round()
        let entries = try await world.number("SELECT count(*) FROM journal")
        #expect(try world.published().checkpoint.size == entries)
        #expect(try await world.audit(published + [try world.published().checkpoint]) == [])
        #expect(signed.values.allSatisfy { $0.count == 1 })
        #if os(Linux)
            #expect(notes.values.allSatisfy { $0.count == 1 })
        #endif
        #expect(signed.count > 5)
        try await world.database.close()
    }

    @Test("A checkpoint that could not be published is published in a later round")
    func publishing() async throws {
        try await world.write(3)
        let folder = world.path("missing")
        let sealing = try LogSealing(
            ledger: world.world.ledger, signer: world.signer,
            publishers: [CheckpointFile(path: folder + "/checkpoint")])
        #expect(await logFailure { try await sealing.round() } == .fileMissing)
        #expect(world.signer.head.size > 0)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(try await sealing.round().checkpoint?.checkpoint == world.signer.head)
    }

    @Test(
        "An entry that was put into the journal by SQL is not sealed, and the others are",
        // The first is an exact copy of a genuine entry.
        arguments: [
            "leaf, mac", "leaf, NULL", "leaf, 'text'", "CAST(leaf || x'00' AS BLOB), mac", "'text', mac", "5, 5",
        ])
    func forgedEntry(leafAndCode: String) async throws {
        try await world.write(2)
        try await world.sealing.round()
        try await world.tamper([
            """
            INSERT INTO journal (entry_id, leaf, mac, salt, details, app_key, kind, code, at)
            SELECT randomblob(16), \(leafAndCode), salt, details, app_key, kind, code, at FROM journal LIMIT 1
            """
        ])
        #expect(try await world.audit([try world.published().checkpoint]) == [.pendingRefused])
        let forged = try await world.number("SELECT max(entry_key) FROM journal")
        try await world.write(2)
        let round = try await world.sealing.round()
        #expect(round.sealed == 2 && round.refused == [forged] && round.refusedInAll == 1)
        #expect(try await world.audit([try world.published().checkpoint]) == [.entryForgotten])
        let report = try await world.world.ledger.auditLog([])
        #expect(report.pending.count == 0 && report.pending.refused == 1)
        #expect(try await world.sealing.round().refusedInAll == 1)
    }

    @Test("An entry whose details were changed, and one that has a leaf already, are refused; the others are sealed")
    func forgedPending() async throws {
        try await world.write(2)
        try await world.sealing.round()
        try await world.write(3)
        let last = try await world.number("SELECT max(entry_key) FROM journal")
        try await world.tamper([
            "UPDATE log_state SET sealed_up_to = sealed_up_to - 1",
            "UPDATE journal SET details = x'7b7d' WHERE entry_key = \(last - 1)",
        ])
        let round = try await world.sealing.round()
        #expect(round.sealed == 2 && round.refused == [last - 3, last - 1])
    }

    @Test("A server with another key of entries seals nothing, and refuses no entry for good")
    func otherKey() async throws {
        try await world.write(2)
        let other = try EntryKey.openOrCreate(at: world.path("other.key"))
        let clock = world.world.clock
        let ledger = try await PurchaseLedger.openRecorded(
            database: world.database, verifier: try LedgerWorld.verifier(), entryKey: other, clock: { clock.now })
        #expect(await logFailure { _ = try await LogSealing(ledger: ledger, signer: nil).round() } == .entryKeyDiffers)
        #expect(try await world.sealing.round().refused == [])
        #expect(try await world.audit([try world.published().checkpoint]) == [])
    }

    @Test("The signer refuses a log that was sealed by SQL, and one that is shorter than its last head")
    func forgedLog() async throws {
        try await world.write(3)
        try await world.sealing.round()
        let size = try world.published().checkpoint.size
        // A forged entry, with the right root for it.
        let leaf = [UInt8](repeating: 7, count: 150)
        var edge = MerkleAppender()
        let leaves = try await world.database.read(.lists) { connection in
            try connection.rows(
                "SELECT journal.leaf FROM log_entries JOIN journal USING (entry_key) ORDER BY log_entries.leaf", [])
        }
        for row in leaves {
            if case .blob(let leaf)? = row.values.first { _ = edge.append(.leaf(leaf)) }
        }
        #expect(edge.root() == world.signer.head.root)
        _ = edge.append(.leaf(leaf))
        let root = edge.root().bytes
        try await world.tamper([])
        try await world.database.write { connection in
            try connection.execute(
                """
                INSERT INTO journal (entry_key, entry_id, leaf, salt, details, app_key, kind, code, at, mac)
                VALUES (900, randomblob(16), ?1, NULL, NULL, 0, 12, '', 0, randomblob(32))
                """, [.blob(leaf)])
            try connection.execute("INSERT INTO log_entries (leaf, entry_key) VALUES (?1, 900)", [.integer(size)])
            try connection.execute(
                "UPDATE log_state SET size = ?1, root = ?2, sealed_up_to = 900", [.integer(size + 1), .blob(root)])
        }
        #expect(await logFailure { try await world.sealing.round() } == .notAuthentic)
        #expect(world.signer.head.size == size)
        #expect(try await world.audit([world.signer.head]) == [.entryNotAuthentic])
        try await world.tamper([
            "DELETE FROM log_entries WHERE leaf >= \(size - 1)", "UPDATE log_state SET size = \(size - 1)",
        ])
        #expect(await logFailure { _ = try await world.sealing.sign() } == .shorter)
        #expect(try await world.audit([world.signer.head]).contains(.recordShorter))
    }

    @Test("A ledger without the key of entries cannot be sealed, and its entries are refused later", .folder)
    func withoutKey() async throws {
        let database = try SQLiteDatabase(path: SealedWorld.path("assay.sqlite", folder))
        let world = try await LedgerWorld(database)
        #expect(logFailure { _ = try LogSealing(ledger: world.ledger, signer: nil) } == .notAuthentic)
        _ = try await world.order()
        try await database.close()
        let sealed = try await SealedWorld(folder)
        let round = try await sealed.sealing.round()
        #expect(round.sealed == 0 && round.refused.count > 1)
        try await sealed.database.close()
    }

    @Test("Running seals committed entries, including those committed before the end")
    func running() async throws {
        let sealing = world.sealing
        let task = Task { await sealing.run { _ in } }
        try await world.write(3)
        while try await world.number(SealedWorld.pending) > 0 {
            try await Task.sleep(for: .milliseconds(10))
        }
        try await world.write(3)
        task.cancel()
        await task.value
        #expect(try world.published().checkpoint.size == (try await world.number("SELECT count(*) FROM journal")))
    }
}
