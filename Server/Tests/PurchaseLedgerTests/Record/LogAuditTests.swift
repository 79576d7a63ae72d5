import Foundation
import PurchaseLedger
import PurchaseVerification
import Synchronization
import Testing

@Suite("Audit of the Merkle log", .sealed)
struct LogAuditTests {
    var folder: URL { CurrentWorld.opened() }
    let world: SealedWorld = CurrentWorld.opened()

    @Test(
        "Each change of the log is reported",
        arguments: [
            ("UPDATE journal SET leaf = leaf || x'00' WHERE entry_key = 5", [LogFinding.Kind.recordRewritten]),
            (
                "UPDATE journal SET leaf = CAST(leaf || x'00' AS BLOB) WHERE entry_key = 5",
                [.recordRewritten, .entryNotAuthentic, .tileDiffers, .rootDiffers]
            ),
            ("UPDATE journal SET mac = 'text' WHERE entry_key = 5", [.entryNotAuthentic]),
            ("UPDATE journal SET mac = randomblob(32) WHERE entry_key = 5", [.entryNotAuthentic]),
            ("UPDATE journal SET mac = NULL WHERE entry_key = 5", [.entryNotAuthentic]),
            ("UPDATE journal SET entry_id = randomblob(16) WHERE entry_key = 5", [.entryNotAuthentic]),
            ("DELETE FROM journal WHERE entry_key = 5", [.leafMissing, .recordRewritten]),
            ("DELETE FROM log_entries WHERE leaf = 5", [.leafMissing, .recordRewritten, .entryForgotten]),
            ("INSERT INTO log_entries (leaf, entry_key) VALUES (100000, 100000)", [.leafUnknown]),
            ("UPDATE log_entries SET entry_key = -entry_key WHERE leaf = 5", [.leafMissing, .entryForgotten]),
            ("UPDATE log_tiles SET hashes = zeroblob(8192)", [.tileDiffers]),
            ("UPDATE log_tiles SET root = zeroblob(32)", [.tileDiffers]),
            ("DELETE FROM log_tiles", [.tileDiffers]),
            ("UPDATE log_state SET size = 255", [.tileUnknown]),
            ("UPDATE log_state SET root = zeroblob(32)", [.rootDiffers]),
            ("UPDATE log_state SET size = size - 1", [.recordShorter, .leafUnknown, .rootDiffers]),
            ("UPDATE log_state SET size = 0", [.recordShorter]),
            ("UPDATE log_state SET size = size + 1", [.leafMissing]),
            ("UPDATE log_state SET sealed_up_to = sealed_up_to - 1", [.pendingRefused]),
        ])
    func changes(sql: String, expected: [LogFinding.Kind]) async throws {
        try await world.write(300)
        try await world.sealing.round()
        let checkpoint = try world.published().checkpoint
        #expect(try await world.audit([checkpoint]) == [])
        try await world.tamper([sql])
        let kinds = try await world.audit([checkpoint])
        #expect(Set(expected).isSubset(of: kinds), "\(sql): \(kinds)")
    }

    @Test(
        "A tile that the size does not have, which stops sealing, is reported; no trigger has to be dropped for it",
        arguments: [1, -1, 1 << 56, 7 << 56 + 5, .max] as [Int64], [false, true])
    func plantedTile(key: Int64, isSince: Bool) async throws {
        try await world.write(300)
        try await world.sealing.round()
        let checkpoint = try world.published().checkpoint
        try await world.database.write { connection in
            _ = try connection.execute(
                "INSERT INTO log_tiles (tile_key, root, hashes) SELECT ?1, root, hashes FROM log_tiles",
                [.integer(key)])
        }
        let report = try await world.world.ledger.auditLog([checkpoint], since: isSince ? checkpoint : nil)
        #expect(report.findings.map(\.kind) == [.tileUnknown])
        #expect(report.findings.first?.detail.contains("tile_key \(key) ") == true)
    }

    @Test("A planted tile is removed as the documents say, and sealing goes on")
    func removedTile() async throws {
        try await world.write(300)
        try await world.sealing.round()
        let plant = "INSERT INTO log_tiles (tile_key, root, hashes) SELECT 1, root, hashes FROM log_tiles"
        try await world.database.write { _ = try $0.execute(plant, []) }
        try await world.write(300)
        await #expect(throws: LedgerStorageError.self) { try await world.sealing.round() }
        try await world.database.write { connection in
            let sql = "SELECT sql FROM sqlite_master WHERE name = 'log_tiles_no_delete'"
            guard case .text(let trigger)? = try connection.rows(sql, []).first?.values.first else { return }
            try connection.execute("DROP TRIGGER log_tiles_no_delete", [])
            try connection.execute("DELETE FROM log_tiles WHERE tile_key = 1", [])
            try connection.execute(trigger, [])
        }
        try await world.sealing.round()
        let checkpoint = try world.published().checkpoint
        #expect(checkpoint.size > 512)
        #expect(try await world.audit([checkpoint]) == [])
        #expect(try await world.world.ledger.audit().findings == [])
    }

    @Test("A rewritten log with recomputed hashes, tiles, size and root is found by the checkpoint", .folder)
    func computedAgain() async throws {
        let world = try await SealedWorld(folder.appending(path: "a").created())
        try await world.write(10)
        try await world.sealing.round()
        let checkpoint = try world.published().checkpoint
        try await world.database.close()
        // Another log of the same size, sealed under the same key of entries. An attacker with only the database
        // cannot create it.
        let other = try folder.appending(path: "b").created()
        try FileManager.default.copyItem(
            atPath: world.path("entries.key"), toPath: other.appending(path: "entries.key").path)
        let rewritten = try await SealedWorld(other)
        try await rewritten.write(10)
        try await rewritten.sealing.round()
        #expect(try rewritten.published().checkpoint.size == checkpoint.size)
        #expect(try await rewritten.audit([checkpoint]) == [.recordRewritten])
        #expect(try await rewritten.audit() == [])
        try await rewritten.database.close()
    }

    @Test("A log without its last entries is shorter than its checkpoint, and both sizes are named", .folder)
    func shorter() async throws {
        let world = try await SealedWorld(folder.appending(path: "a").created())
        try await world.write(4)
        try await world.sealing.round()
        let early = try world.published().checkpoint
        let backup = try world.crashed(into: folder)
        try await world.write(3)
        try await world.sealing.round()
        let late = try world.published().checkpoint
        try await world.database.close()
        let restored = try await SealedWorld(backup)
        let report = try await restored.world.ledger.auditLog([late, early])
        #expect(report.findings.map(\.kind) == [.recordShorter])
        let detail = try #require(report.findings.first?.detail)
        #expect(detail.contains("\(early.size)") && detail.contains("\(late.size)"))
        try await restored.database.close()
    }

    @Test("Pending entries are not a finding; if they wait long, sealing is late")
    func pending() async throws {
        try await world.sealing.round()
        try await world.write(2)
        var report = try await world.world.ledger.auditLog([])
        #expect(report.findings == [] && report.pending.count == 2 && report.pending.oldest == world.world.clock.now)
        #expect(!report.isSealingLate)
        world.world.clock.advance(seconds: 61)
        report = try await world.world.ledger.auditLog([])
        #expect(report.findings == [] && report.isSealingLate)
        try await world.sealing.round()
        report = try await world.world.ledger.auditLog([])
        #expect(report.pending.count == 0 && report.pending.oldest == nil && !report.isSealingLate)
    }

    @Test("Entries that a server seals before any read of the audit are not refused")
    func sealedMeanwhile() async throws {
        let clock = world.world.clock
        var (place, reads) = (1, 1)
        while place <= reads {
            try await world.write(2)
            let database = SealedBeforeRead(world: world, place: place)
            let ledger = try await PurchaseLedger.openRecorded(
                database: database, verifier: LedgerWorld.verifier(), entryKey: world.entryKey
            ) { clock.now }
            #expect(try await ledger.auditLog([]).findings == [], "sealed before read \(place)")
            (place, reads) = (place + 1, database.reads)
        }
        #expect(reads > 2)
    }

    @Test("Without the key of entries, codes are not checked and the report says so", .folder)
    func withoutKey() async throws {
        let world = try await SealedWorld(folder.appending(path: "a").created())
        try await world.write(2)
        try await world.sealing.round()
        #expect(try await world.world.ledger.auditLog([]).hasCheckedCodes)
        try await world.tamper(["UPDATE journal SET mac = NULL"])
        try await world.database.close()
        let database = try SQLiteDatabase(path: world.path("assay.sqlite"))
        let reader = try await LedgerWorld(database, clock: world.world.clock)
        let report = try await reader.ledger.auditLog([])
        #expect(!report.hasCheckedCodes && report.findings == [])
        try await database.close()
    }

    @Test("Checkpoints of any size of the log's past agree with it")
    func past() async throws {
        var checkpoints = [Checkpoint(origin: "example.com/assay", size: 0, root: .ofEmptyTree)]
        for count in [1, 1, 5, 250, 3] {
            try await world.write(count)
            try await world.sealing.round()
            checkpoints.append(try world.published().checkpoint)
        }
        #expect(try await world.audit(checkpoints.shuffled() + checkpoints) == [])
        for index in checkpoints.indices {
            var wrong = checkpoints
            wrong[index].root = .leaf([9])
            #expect(try await world.audit(wrong) == [.recordRewritten])
        }
    }
}

/// A database whose pending entries a server seals before one of its reads.
private final class SealedBeforeRead: LedgerDatabase {
    private let world: SealedWorld
    private let place: Int
    private let count = Mutex(0)

    init(world: SealedWorld, place: Int) { (self.world, self.place) = (world, place) }

    var reads: Int { count.withLock { $0 } }
    var dialect: any LedgerDialect { world.database.dialect }

    func read<Value: Sendable>(
        _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        let number = count.withLock { count in
            count += 1
            return count
        }
        if number == place { try await world.sealing.round() }
        return try await world.database.read(access, body)
    }

    func write<Value: Sendable>(
        plan: @escaping @Sendable () -> LedgerWritePlan,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await world.database.write(plan: plan, body)
    }

    func requireSchema(_ number: Int64) { world.database.requireSchema(number) }

    func close() async throws { try await world.database.close() }
}

extension URL {
    /// The folder, created if it is missing.
    fileprivate func created() throws -> URL {
        try FileManager.default.createDirectory(at: self, withIntermediateDirectories: true)
        return self
    }
}
