import EvidenceMint
import Foundation
import GRDB
import PurchaseLedger
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

/// The key of a customer, in SQL.
private func key(of name: String) -> String { "(SELECT customer_key FROM customers WHERE name = '\(name)')" }

/// Changes of rows that new entries touched, each with a finding.
private let touchedChanges: [(String, AuditFinding.Kind)] = [
    ("UPDATE transactions SET owner_key = NULL WHERE transaction_id = '3'", .rowDiffers),
    ("UPDATE transactions SET owner_key = \(key(of: "bob")) WHERE transaction_id = '4'", .rowDiffers),
    (
        """
        UPDATE transactions SET facts = (SELECT facts FROM transactions WHERE transaction_id = '2')
        WHERE transaction_id = '3'
        """, .rowDiffers
    ),
    // An old period of a subscription that was renewed.
    (
        """
        UPDATE transactions SET facts = (SELECT facts FROM transactions WHERE transaction_id = '20')
        WHERE transaction_id = '10'
        """, .rowDiffers
    ),
    ("DELETE FROM transactions WHERE transaction_id = '3'", .rowMissing),
    ("UPDATE transactions SET token = randomblob(16) WHERE transaction_id = '3'", .rowDiffers),
    (
        "UPDATE entitlements SET balance = balance + 1 WHERE customer_key = \(key(of: "alice")) AND ground = 0",
        .rowDiffers
    ),
    ("DELETE FROM entitlements WHERE customer_key = \(key(of: "alice")) AND ground > 0", .rowMissing),
    ("DELETE FROM entitlements WHERE customer_key = \(key(of: "carol")) AND timeline IS NOT NULL", .rowMissing),
    ("UPDATE consumptions SET quantity = 1", .rowDiffers),
    ("UPDATE customers SET token = randomblob(16) WHERE name = 'alice'", .rowDiffers),
    (
        """
        INSERT INTO takes (ground, customer_key, units)
        SELECT ground, customer_key, 1 FROM lots WHERE customer_key = \(key(of: "carol"))
        """, .rowUnknown
    ),
    (
        "UPDATE lots SET quantity = 99, available = available + 89 WHERE customer_key = \(key(of: "alice"))",
        .rowDiffers
    ),
    (
        "UPDATE journal SET details = CAST('{}' AS BLOB) WHERE entry_key = (SELECT max(entry_key) FROM log_entries)",
        .detailsChanged
    ),
    (
        "UPDATE journal SET at = at + 1 WHERE entry_key = (SELECT max(entry_key) FROM journal)",
        .columnDiffers
    ),
    (
        """
        UPDATE evidence SET content = (SELECT content FROM evidence AS other WHERE other.evidence_key = 1)
        WHERE evidence_key = (SELECT max(evidence_key) FROM evidence)
        """, .evidenceChanged
    ),
]

/// Changes of rows that no new entry touched.
private let untouchedChanges: [String] = [
    "UPDATE entitlements SET balance = balance + 1 WHERE customer_key = \(key(of: "bob")) AND ground = 0",
    "UPDATE transactions SET owner_key = NULL WHERE transaction_id = '2'",
    "UPDATE journal SET salt = randomblob(16) WHERE entry_key = 9",
]

/// The audit of what is new since a checkpoint.
@Suite("The audit that goes on with a kept fold", .tags(.everyEngine), .sealed)
struct SinceAuditTests {
    var ordered: OrderedWorld { CurrentWorld.opened() }
    let world: SealedWorld = CurrentWorld.opened()

    private static let monthly = LedgerWorld.monthly

    /// Audits with a copy of a kept file.
    private static func audit(_ ledger: PurchaseLedger, since kept: String) async throws -> AuditReport {
        try await TemporaryFolder.with { folder in
            let copy = folder.appending(path: "kept.sqlite").path
            try FileManager.default.copyItem(atPath: kept, toPath: copy)
            let outcome = try await ledger.audit(keeping: copy, in: folder)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["kept.sqlite"])
            return outcome.report
        }
    }

    /// Old purchases of three customers, a checkpoint with a kept fold, and new purchases of two of them.
    private static func story(_ world: SealedWorld, orders: Int = 10) async throws -> Checkpoint {
        let ledger = world.world
        _ = try await ledger.claim("1", try LedgerWorld.signed("1") { $0.quantity = 10 })
        _ = try await ledger.claim("2", customer: "bob", try LedgerWorld.signed("2") { $0.quantity = 10 })
        _ = try await ledger.claim("10", product: monthly, try LedgerWorld.period("10", original: "10", from: 0))
        _ = try await ledger.claim(
            "20", product: monthly, customer: "bob", try LedgerWorld.period("20", original: "20", from: 0))
        try await world.write(orders)
        try await world.sealing.round()
        let checkpoint = try world.published().checkpoint
        let first = try await ledger.ledger.audit(keeping: world.path("kept"))
        #expect(first.report.since == nil && first.report.findings == [])
        _ = try await ledger.claim("3", try LedgerWorld.signed("3") { $0.quantity = 10 })
        _ = try await ledger.consume(4, "use")
        _ = try await ledger.claim("11", product: monthly, try LedgerWorld.period("11", original: "10", from: 30))
        _ = try await ledger.claim("30", customer: "carol", try LedgerWorld.signed("30", product: LedgerWorld.pass))
        try await world.sealing.round()
        // One entry waits for the log.
        _ = try await ledger.claim("4", customer: "carol", try LedgerWorld.signed("4"))
        return checkpoint
    }

    @Test("33.4 A change in a row that new entries touched is found", arguments: touchedChanges)
    func found(sql: String, kind: AuditFinding.Kind) async throws {
        _ = try await Self.story(world)
        try await world.tamper(["DROP TRIGGER IF EXISTS evidence_no_update", sql])
        let report = try await Self.audit(world.world.ledger, since: world.path("kept"))
        #expect(report.findings.contains { $0.kind == kind }, "\(sql): \(report.findings)")
    }

    @Test(
        "33.4 A change in an old row that no new entry touched is not found, and the report says what it did not examine",
        arguments: untouchedChanges)
    func notFound(sql: String) async throws {
        let checkpoint = try await Self.story(world)
        let before = try await Self.audit(world.world.ledger, since: world.path("kept"))
        #expect(before.findings == [] && before.since == checkpoint.size)
        #expect((before.entries, before.evidence, before.pending) == (5, 4, 1))
        #expect((before.originals, before.customers) == (5, 2))
        try await world.tamper([sql])
        #expect(try await Self.audit(world.world.ledger, since: world.path("kept")) == before)
        #expect(AuditReport.unexamined.contains("purchases and customers that no newer entry touched"))
        #expect(try await world.world.ledger.audit().findings != [])
    }

    @Test("33.4 A whole audit that was interrupted goes on with its part, compares everything, and leaves no part")
    func interrupted() async throws {
        _ = try await Self.story(world, orders: 600)
        let (kept, part, saved) = (world.path("kept"), world.path("kept.part"), world.path("saved"))
        let files = FileManager.default
        // The number of entries after the first page.
        @Sendable func audit(saving: Bool = false) async throws -> (report: AuditReport, first: Int64?) {
            if files.fileExists(atPath: kept) { try files.removeItem(atPath: kept) }
            let first = Mutex<Int64?>(nil)
            let outcome = try await world.world.ledger.audit(keeping: kept, partEntries: 1) { progress in
                first.withLock { $0 = $0 ?? progress.done }
                guard saving, files.fileExists(atPath: part), !files.fileExists(atPath: saved) else { return }
                #expect(throws: Never.self) { try files.copyItem(atPath: part, toPath: saved) }
            }
            #expect(!files.fileExists(atPath: part) && outcome.log.findings == [])
            #expect(files.fileExists(atPath: kept) == outcome.report.findings.isEmpty)
            return (outcome.report, first.withLock { $0 })
        }
        let whole = try await audit(saving: true)
        #expect(whole.report.findings == [] && whole.first == 256)
        // What an interruption leaves.
        func interrupt() throws { try files.copyItem(atPath: saved, toPath: part) }
        try interrupt()
        let resumed = try await audit()
        #expect(resumed.report == whole.report && resumed.first == 512)
        try interrupt()
        try files.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -86_401)], ofItemAtPath: part)
        #expect(try await audit().first == 256)
        try interrupt()
        try await world.tamper([untouchedChanges[0]])
        #expect(try await audit().report.findings.contains { $0.kind == .rowDiffers })
        try await world.tamper([untouchedChanges[0].replacing("+ 1", with: "- 1")])
        try interrupt()
        try await world.world.erase("bob")
        try await world.sealing.round()
        let erased = try await audit()
        // Tampering dropped the triggers.
        let others = erased.report.findings.filter { $0.kind != .schemaMissing }
        #expect(erased.first == 256 && others == [], "\(others)")
    }

    @Test("33.4 The log is read from the checkpoint on, with the codes of the new entries")
    func log() async throws {
        let checkpoint = try await Self.story(world, orders: 300)
        let ledger = world.world.ledger
        let later = try world.published().checkpoint
        var report = try await ledger.auditLog([later, checkpoint], since: checkpoint)
        #expect(report.findings == [] && report.since == checkpoint.size && report.size == later.size)
        #expect(report.pending.count == 1)
        var wrong = later
        wrong.root = .leaf([9])
        report = try await ledger.auditLog([wrong], since: checkpoint)
        #expect(report.findings.map(\.kind) == [.recordRewritten])
        try await world.tamper([
            "UPDATE journal SET mac = randomblob(32) WHERE entry_key = (SELECT max(entry_key) FROM log_entries)"
        ])
        #expect(try await ledger.auditLog([], since: checkpoint).findings.map(\.kind) == [.entryNotAuthentic])
    }

    @Test("33.4 A wrong checkpoint is refused")
    func wrongCheckpoint() async throws {
        var checkpoint = try await Self.story(world)
        checkpoint.root = .leaf([9])
        let report = try await world.world.ledger.auditLog([], since: checkpoint)
        #expect(report.findings.map(\.kind) == [.recordRewritten] && report.since == nil)
    }

    @Test("33.4 A record that is shorter than the checkpoint, or was rewritten before it, is refused")
    func truncated() async throws {
        let checkpoint = try await Self.story(world)
        try await world.tamper(["DELETE FROM log_entries WHERE leaf >= 8"])
        try await world.database.write { _ = try ForgedLog.computeAgain($0) }
        var report = try await world.world.ledger.auditLog([], since: checkpoint)
        #expect(report.findings.map(\.kind) == [.recordShorter] && report.since == nil)
        try await world.tamper([
            "INSERT INTO log_entries (leaf, entry_key) SELECT 1000 + entry_key, entry_key FROM journal "
                + "WHERE entry_key NOT IN (SELECT entry_key FROM log_entries) ORDER BY entry_key",
            "UPDATE journal SET leaf = CAST(leaf || x'00' AS BLOB) WHERE entry_key = 5",
        ])
        try await world.database.write { _ = try ForgedLog.computeAgain($0) }
        report = try await world.world.ledger.auditLog([], since: checkpoint)
        #expect(report.findings.map(\.kind) == [.recordRewritten] && report.since == nil)
    }

    @Test("33.4 A file with another fold, or with something else, is refused; findings leave the kept file as it is")
    func otherFiles() async throws {
        _ = try await Self.story(world)
        let ledger = world.world.ledger
        for name in ["assay.sqlite", "checkpoint"] {
            await #expect(throws: LedgerStorageError.self) { try await ledger.audit(keeping: world.path(name)) }
        }
        let kept = try Data(contentsOf: URL(fileURLWithPath: world.path("kept")))
        try await world.tamper(["UPDATE entitlements SET balance = balance + 1 WHERE ground = 0"])
        #expect(try await ledger.audit(keeping: world.path("kept")).report.findings != [])
        #expect(try Data(contentsOf: URL(fileURLWithPath: world.path("kept"))) == kept)
        // Another ledger, whose log is longer.
        try await SealedWorld.with { other in
            _ = try await Self.story(other, orders: 30)
            try FileManager.default.copyItem(atPath: world.path("kept"), toPath: other.path("foreign"))
            await #expect(throws: LedgerStorageError.self) {
                try await other.world.ledger.audit(keeping: other.path("foreign"))
            }
        }
    }

    @Test("A fold that was kept without the key of entries is not gone on with, neither with the key nor after it")
    func otherKeys() async throws {
        _ = try await Self.story(world)
        let keyless = try await PurchaseLedger.openRecorded(
            database: world.world.database, verifier: try LedgerWorld.verifier(),
            clock: { [clock = world.world.clock] in clock.now })
        for ledger in [keyless, world.world.ledger] {
            let outcome = try await ledger.audit(keeping: world.path("kept"))
            #expect(outcome.report.since == nil && outcome.report.findings == [], "\(outcome.report.findings)")
        }
        #expect(try await world.world.ledger.audit(keeping: world.path("kept")).report.since != nil)
    }

    @Test("33.4 Since every place of a history with each kind of act there are no findings, on every engine", .ordered)
    func everyStart() async throws {
        try await TemporaryFolder.with { folder in
            let (world, ledger) = (ordered.world, ordered.world.ledger)
            var starts: [(checkpoint: Checkpoint, file: String)] = []
            func seal() async throws {
                guard let signed = try await ordered.sealing.round().checkpoint else { return }
                let file = folder.appending(path: "\(starts.count)").path
                #expect(try await ledger.audit(keeping: file).report.findings == [])
                starts.append((signed.checkpoint, file))
            }
            try await seal()
            _ = try await world.claim("1", try LedgerWorld.signed("1") { $0.quantity = 10 })
            try await seal()
            _ = try await world.consume(4, "use")
            try await seal()
            try await world.observe(
                try LedgerWorld.signed("1") {
                    $0.quantity = 10
                    $0.signedDate = MintedWorld.moment.addingTimeInterval(7200)
                    $0.revocationDate = MintedWorld.moment.addingTimeInterval(5400)
                    $0.revocationReason = 0
                })
            try await seal()
            for (id, start) in [("10", 0.0), ("11", 30), ("12", 60)] {
                _ = try await world.claim(id, try LedgerWorld.period(id, original: "10", from: start))
            }
            try await seal()
            let receipt = try LedgerWorld.coinReceipt(3)
            for customer in ["bob", "alice"] {
                _ = try await ledger.restore(
                    RestoreSubmission(app: "example", customerID: customer, evidence: [receipt]))
            }
            try await seal()
            _ = try await ledger.perform(
                MovePurchase(app: "example", transactionID: "1", to: "carol", reason: "the customer asked for it"))
            _ = try await ledger.perform(
                GrantByHand(
                    app: "example", customerID: "carol", productID: LedgerWorld.pro, quantity: 1, reason: "a gift"))
            try await seal()
            for id in ["30", "31"] {
                _ = try await world.claim(id, customer: "dora", try LedgerWorld.signed(id, product: LedgerWorld.pass))
            }
            try await seal()
            _ = try await ledger.perform(MergeCustomers(app: "example", customerID: "dora", into: "alice"))
            try await seal()
            let last = try #require(starts.last).checkpoint
            #expect(starts.count == 9)
            for start in starts {
                let report = try await Self.audit(ledger, since: start.file)
                #expect(report.findings == [] && report.since == start.checkpoint.size)
                #expect(Int64(report.entries) == last.size - start.checkpoint.size)
                // Checkpoints before the start are compared by proofs of consistency.
                let checkpoints = starts.map(\.checkpoint)
                let log = try await ledger.auditLog(checkpoints, since: start.checkpoint)
                #expect(log.findings == [] && log.since == start.checkpoint.size)
                var wrong = checkpoints
                wrong[0].root = .leaf([9])
                #expect(
                    try await ledger.auditLog(wrong, since: start.checkpoint).findings.map(\.kind) == [
                        .recordRewritten
                    ])
            }
            // An erasure changes what entries before it mean, so the next audit is whole.
            _ = try await ledger.perform(EraseCustomer(app: "example", customerID: "bob", reason: "asked"))
            let whole = try await Self.audit(ledger, since: starts[2].file)
            #expect(whole.findings == [] && whole.since == nil && Int64(whole.entries) == last.size + 1)
            try await seal()
            try await world.observe(receipt)
            _ = try await world.claim("40", customer: "dora", try LedgerWorld.signed("40"))
            let after = try await Self.audit(ledger, since: starts[9].file)
            #expect(after.findings == [] && after.since == last.size + 1 && after.entries == 2)
        }
    }

    @Test("33.4 An audit of the same new entries reads no more of a ledger ten times as large")
    func cost() async throws {
        var costs: [StatementCost] = []
        // The newest tile of the log is as full in both.
        for old in [100, 100 + 4 * 256] {
            try await TemporaryFolder.with { folder in
                let path = folder.appending(path: "assay.sqlite").path
                let recorder = RecordingDatabase(try SQLiteDatabase(path: path))
                let keys = SealedWorld.path("entries.key", folder)
                let world = try await LedgerWorld(recorder, entryKey: try EntryKey.openOrCreate(at: keys))
                let signingKey = SealedWorld.path("log.key", folder)
                try CheckpointSigner.createKey(at: signingKey, origin: "example.com/assay")
                let sealing = try LogSealing(
                    ledger: world.ledger, signer: try CheckpointSigner(keyFile: signingKey), publishers: [])
                for _ in 0..<old { _ = try await world.order("other") }
                _ = try await sealing.round()
                let kept = folder.appending(path: "kept").path
                #expect(try await world.ledger.audit(keeping: kept).report.since == nil)
                _ = try await world.claim("1", try LedgerWorld.signed("1"))
                _ = try await world.claim("10", try LedgerWorld.period("10", original: "10", from: 0))
                _ = try await sealing.round()
                _ = recorder.take()
                let outcome = try await world.ledger.audit(keeping: kept)
                #expect(outcome.log.findings == [] && outcome.report.findings == [] && outcome.report.entries == 2)
                let calls = recorder.takeCalls()
                costs.append(try StatementCost(of: calls, in: try DatabaseQueue(path: path)))
                try await recorder.close()
            }
        }
        print("audit that goes on with a kept fold: \(costs.map(\.steps)) steps")
        #expect(costs[1].steps <= costs[0].steps * 5 / 4 + 300)
    }
}
