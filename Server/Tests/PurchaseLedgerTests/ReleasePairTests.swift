import Foundation
import PurchaseLedger
import PurchaseVerification
import Testing

@Suite("Two releases on one database", .enabled(if: TestEngine.ownsTables))
struct ReleasePairTests {
    /// A ledger of the next release over a database.
    private static func next(_ database: any LedgerDatabase) async throws -> LedgerWorld {
        let world = try await LedgerWorld(database)
        try await LedgerMigrations.requireCurrent(database, of: .next)
        return world
    }

    private static func kind(_ body: () async throws -> Void) async -> LedgerStorageError.Kind? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? LedgerStorageError)?.kind
        }
    }

    private static func claim(_ id: String, _ world: LedgerWorld) async throws {
        #expect(try await world.claim(id, try LedgerWorld.signed(id)).verdict == .accepted)
    }

    @Test(
        "2.1 Both write after the newer has migrated, under the rules of the older, until the migration is ended; then the older refuses",
        arguments: TestEngine.chosen)
    func both(engine: TestEngine) async throws {
        try await engine.withDatabase { open in
            let (older, newer) = (try open(), try open())
            let old = try await LedgerWorld(older)
            try await Self.claim("1", old)
            let before = try await SchemaState(of: older)
            #expect(before.expansions == [] && before.number == LedgerMigrations.current)

            #expect(try await LedgerMigrations.migrate(newer, now: 1, of: .next).count == 1)
            #expect(try await LedgerMigrations.migrate(newer, now: 2, of: .next).isEmpty)
            let new = try await Self.next(newer)
            let during = try await SchemaState(of: older)
            #expect(during.number == before.number && during.rules == before.rules)
            #expect(during.expansions == [before.number + 1] && during.isExpandedByLater)
            try await Self.claim("2", old)
            try await Self.claim("3", new)
            // The older can be started again.
            try await Self.claim("4", try await LedgerWorld(older))
            #expect(await Self.kind { try await new.ledger.perform(NoteNextRelease(note: "early")) } == .schemaTooOld)
            let audit = try await old.ledger.audit()
            #expect(audit.findings.contains { $0.kind == .auditIncomplete && $0.detail.contains("later release") })

            let beginning = try await new.ledger.beginRelease(of: .next)
            #expect(beginning.migrations == [before.number + 1])
            #expect(beginning.rules == (before.rules ?? 0) + 1)
            #expect(await Self.kind { try await Self.claim("5", old) } == .schemaTooNew)
            #expect(await Self.kind { try await old.ledger.probe() } == .schemaTooNew)
            #expect(await Self.kind { _ = try await LedgerWorld(older) } == .schemaTooNew)
            try await Self.claim("5", new)
            try await new.ledger.perform(NoteNextRelease(note: "in time"))
            let after = try await SchemaState(of: newer)
            #expect(after.number == before.number + 1 && after.expansions.isEmpty)
            #expect(after.rules == beginning.rules)
            #expect(try await new.ledger.beginRelease(of: .next) == ReleaseBeginning(migrations: [], rules: nil))
            try await older.close()
            try await newer.close()
        }
    }

    @Test("2.2 The start of the release after the next ends what nobody has ended", arguments: TestEngine.chosen)
    func forgotten(engine: TestEngine) async throws {
        try await engine.withDatabase { open in
            let database = try open()
            try await LedgerMigrations.migrate(database, now: 0)
            try await LedgerMigrations.migrate(database, now: 1, of: .next)
            let number = try await SchemaState(of: database).number
            let later = LedgerRelease(
                migrations: LedgerRelease.next.migrations, formerMigration: number + 1, rules: 7...7)
            #expect(try await LedgerMigrations.migrate(database, now: 2, of: later).isEmpty)
            let state = try await SchemaState(of: database)
            #expect(state.number == number + 1 && state.expansions.isEmpty)
            try await database.close()
        }
    }

    @Test("2.3 A server that meets newer rules refuses every write, and names them", arguments: TestEngine.chosen)
    func newerRules(engine: TestEngine) async throws {
        try await engine.withDatabase { open in
            let (database, other) = (try open(), try open())
            let world = try await LedgerWorld(database)
            try await Self.claim("1", world)
            try await other.write { connection in
                _ = try connection.execute("INSERT INTO rules (version, entry_key) VALUES (99, 1)", [])
            }
            for write: () async throws -> Void in [
                { try await Self.claim("2", world) }, { try await world.ledger.probe() },
                { _ = try await LedgerWorld(database) },
            ] {
                let error = await #expect(throws: LedgerStorageError.self) { try await write() }
                #expect(error?.kind == .rulesTooNew && error?.detail.contains("version 99 of the rules") == true)
            }
            try await database.close()
            try await other.close()
        }
    }

    @Test(
        "2.4 A server that meets an unknown kind of entries refuses every write, and names it",
        arguments: TestEngine.chosen)
    func unknownKind(engine: TestEngine) async throws {
        try await engine.withDatabase { open in
            let (database, other) = (try open(), try open())
            let world = try await LedgerWorld(database)
            try await Self.claim("1", world)
            try await world.ledger.probe()
            try await other.write { connection in
                _ = try connection.execute(
                    """
                    INSERT INTO journal (entry_key, entry_id, leaf, app_key, kind, code, at)
                    SELECT entry_key + 100, ?1, leaf, app_key, 250, code, at FROM journal
                    WHERE entry_key = (SELECT max(entry_key) FROM journal)
                    """, [.blob([UInt8](repeating: 7, count: 16))])
            }
            for write: () async throws -> Void in [
                { try await world.ledger.probe() }, { try await Self.claim("2", world) },
                { _ = try await world.order() },
            ] {
                let error = await #expect(throws: LedgerStorageError.self) { try await write() }
                #expect(error?.kind == .journalKindUnknown && error?.detail.contains("the kind 250") == true)
            }
            try await database.close()
            try await other.close()
        }
    }

    @Test("2.5 A backup from the middle of an upgrade leads back to either release")
    func backup() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let copy = folder.appending(path: "copy.sqlite").path
            let database = try SQLiteDatabase(path: path)
            try await Self.claim("1", try await LedgerWorld(database))
            try await LedgerMigrations.migrate(database, now: 1, of: .next)
            // The older release knows nothing of what was added.
            _ = try await LedgerBackup(of: database, to: copy).write()
            try await database.close()
            let restored = try SQLiteDatabase(path: copy)
            try await Self.claim("2", try await LedgerWorld(restored))
            #expect(try await LedgerMigrations.migrate(restored, now: 3, of: .next).count == 1)
            try await Self.claim("3", try await Self.next(restored))
            try await restored.close()
        }
    }

    @Test("2.6 Migrations after the ninth only add, which a check of their statements can deny")
    func additions() {
        for migration in LedgerRelease.next.migrations where migration.number > 9 {
            #expect(migration.incompatibleStatements == [], "migration \(migration.number)")
        }
        #expect(LedgerMigrations.all.contains { !$0.incompatibleStatements.isEmpty })
    }
}
