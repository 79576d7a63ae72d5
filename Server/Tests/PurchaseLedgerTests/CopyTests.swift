import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Copies", .tags(.everyEngine))
struct CopyTests {
    var sealed: SealedWorld { CurrentWorld.opened() }

    /// A sealed ledger in a SQLite file with every kind of row, and with more leaves than fit into a tile.
    private static func withLedger(
        steps: Int = 150, orders count: Int = 250, _ body: (SealedWorld) async throws -> Void
    ) async throws {
        try await SealedWorld.with { sealed in
            let world = sealed.world
            var generator = SeededGenerator(seed: 4)
            var orders: [Order] = []
            for step in 0..<steps {
                do {
                    try await RebuildTests().step(step, world, &orders, &generator, isErasing: true)
                } catch is LedgerRefusal {
                    // A refusal writes nothing.
                }
                world.clock.advance(seconds: 60)
            }
            for name in ["\u{E9}", "e\u{301}", "a' \"; \\ \u{1F600}", "\u{FFFF}"] {
                _ = try await world.order(name)
                _ = try await world.claim("in \(name)", customer: name, try LedgerWorld.signed("in \(name)"))
            }
            _ = try await world.claim("forged", Array("not a receipt".utf8))
            try await world.tester("alice", true)
            try await sealed.write(count)
            _ = try await sealed.sealing.round()
            try await fillEmptyTables(sealed.database)
            try await body(sealed)
        }
    }

    /// Writes rows with the ends of each type's range into the tables that no operation above wrote to, so that each
    /// table is copied with rows, also one that a later migration adds.
    private static func fillEmptyTables(_ database: any LedgerDatabase) async throws {
        for table in try StoredTable.all() {
            try await database.write { connection in
                guard try connection.rows("SELECT 1 FROM \(table.name) LIMIT 1", []).isEmpty else { return }
                // A copy is refused if the log has tiles that its size does not have.
                guard !["journal", "log_tiles"].contains(table.name) else { return }
                for extreme: Int64 in [-(1 << 62), 0, 1 << 62] {
                    var values: [LedgerValue] = []
                    for row in try connection.rows("SELECT type FROM pragma_table_info(?1)", [.text(table.name)]) {
                        switch row.values[0] {
                        case .text("INTEGER"): values.append(.integer(extreme))
                        case .text("TEXT"): values.append(.text(extreme == 0 ? "" : "\u{E9} \(extreme)"))
                        default: values.append(.blob(extreme == 0 ? [] : [0, 0xFF, 39] + Array("\(extreme)".utf8)))
                        }
                    }
                    let places = values.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
                    try connection.execute("INSERT INTO \(table.name) VALUES (\(places))", values)
                }
            }
        }
    }

    private static func copy(
        _ sealed: SealedWorld, from source: any LedgerDatabase, to target: any LedgerDatabase
    ) throws -> LedgerCopy {
        let clock = sealed.world.clock
        return LedgerCopy(
            from: source, to: target, entryKey: sealed.entryKey, signed: [try sealed.published().checkpoint]
        ) { clock.now }
    }

    /// The source in the form in which the copying process has it open, beside a server that runs all the time.
    private static func source(_ sealed: SealedWorld) throws -> SQLiteDatabase {
        try SQLiteDatabase(path: sealed.path("assay.sqlite"))
    }

    private static func code(_ body: () async throws -> Void) async -> CopyError.Code? {
        do {
            try await body()
            return nil
        } catch let error as CopyError {
            #expect(!error.detail.isEmpty)
            return error.code
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    /// A server's ledger with a database.
    private static func world(_ database: any LedgerDatabase, _ sealed: SealedWorld) async throws -> LedgerWorld {
        try await LedgerWorld(database, clock: sealed.world.clock, entryKey: sealed.entryKey)
    }

    @Test("A backup, a copy and a closed ledger have every commit in the file, and none in the WAL beside it")
    func commitsInTheFile() async throws {
        try await Self.withLedger(steps: 20, orders: 5) { sealed in
            let before = try await DatabaseContent(sealed.database)
            _ = try SQLiteBackup(of: sealed.path("assay.sqlite"), to: sealed.path("backup.sqlite")).write { _ in }
            let (source, target) = (try Self.source(sealed), try SQLiteDatabase(path: sealed.path("copy.sqlite")))
            _ = try await Self.copy(sealed, from: source, to: target).run()
            for database in [source, target, sealed.database] as [any LedgerDatabase] { try await database.close() }
            for name in ["assay.sqlite", "backup.sqlite", "copy.sqlite"] {
                try FileManager.default.copyItem(atPath: sealed.path(name), toPath: sealed.path("only-\(name)"))
                let only = try SQLiteDatabase(path: sealed.path("only-\(name)"))
                #expect(try await DatabaseContent(only).differences(from: before) == [], "\(name)")
                try await only.close()
            }
        }
    }

    @Test("SQLite, PostgreSQL and SQLite again: all rows are equal, checkpoints and proofs hold, and numbers continue")
    func roundTrip() async throws {
        try await Self.withLedger { sealed in
            let checkpoint = try sealed.published().checkpoint
            let before = try await DatabaseContent(sealed.database)
            #expect(before.tables.filter(\.value.isEmpty).isEmpty)
            try await ThrowawayPostgreSQL.withDatabase { place in
                let name = "&application_name=assay%20copy"
                let (source, server) = (try Self.source(sealed), try PostgreSQLDatabase(url: place.url() + name))
                let first = try await Self.copy(sealed, from: source, to: server).run()
                try await source.close()
                #expect(first.leaves == checkpoint.size && first.root == checkpoint.root.bytes.hexadecimal)
                #expect(try await DatabaseContent(server).differences(from: before) == [])
                let file = try SQLiteDatabase(path: sealed.path("back.sqlite"))
                let running = try PostgreSQLDatabase(url: place.url())
                try await LedgerMigrations.requireCurrent(running)
                let code = await Self.code { _ = try await Self.copy(sealed, from: server, to: file).run() }
                #expect(code == .sourceInUse)
                try await running.close()
                _ = try await Self.copy(sealed, from: server, to: file).run()
                #expect(try await DatabaseContent(file).differences(from: before) == [])
                for database in [server, file] as [any LedgerDatabase] {
                    // Another process, which did not make the copy, opens it.
                    let url = place.url()
                    let opened: any LedgerDatabase =
                        database is SQLiteDatabase
                        ? try SQLiteDatabase(path: sealed.path("back.sqlite")) : try PostgreSQLDatabase(url: url)
                    if !(database is SQLiteDatabase) { _ = try await LedgerCopy.reopen(opened) }
                    try await opened.write { connection in
                        for row in ["held_evidence"] { _ = try connection.execute("DELETE FROM \(row)", []) }
                    }
                    let world = try await Self.world(opened, sealed)
                    let audit = try await world.ledger.auditLog([checkpoint])
                    #expect(audit.findings == [] && audit.hasCheckedCodes && audit.size == checkpoint.size)
                    let events = try await world.events().count
                    #expect(try await world.claim("later", try LedgerWorld.signed("later")).verdict == .accepted)
                    #expect(try await world.events().count > events)
                    try await LogSealing(ledger: world.ledger, signer: nil).round()
                    #expect(try await world.ledger.auditLog([checkpoint]).findings == [])
                    try await opened.close()
                }
                try await server.close()
                try await file.close()
            }
        }
    }

    @Test(
        "A copy that is interrupted after each page goes on, and meanwhile servers refuse both databases",
        arguments: TestEngine.allCases)
    func interruption(engine: TestEngine) async throws {
        struct Interruption: Error {}
        try await Self.withLedger(steps: 40, orders: 10) { sealed in
            let before = try await DatabaseContent(sealed.database)
            try await engine.withDatabase { open in
                // For SQLite the file has the same name as the source, in another folder.
                var interruptions = 0
                var lastDone: Int64 = -1
                while true {
                    let (source, target) = (try Self.source(sealed), try open())
                    var copy = try Self.copy(sealed, from: source, to: target)
                    copy.pageRows = 16
                    var step = CopyProgress.Step.copying
                    do {
                        _ = try await copy.run { progress in
                            step = progress.step
                            guard progress.step == .copying else { return }
                            #expect(progress.done > lastDone && progress.done <= progress.total)
                            lastDone = progress.done
                            throw Interruption()
                        }
                        try await target.close()
                        try await source.close()
                        break
                    } catch is Interruption {
                        interruptions += 1
                        #expect(step == .copying)
                        try await target.close()
                        try await source.close()
                    }
                    guard interruptions % 7 == 1 else { continue }
                    let server = try open()
                    #expect(
                        await storageFailure { try await LedgerMigrations.requireCurrent(server) } == .copyUnfinished)
                    #expect(
                        await storageFailure { try await LedgerMigrations.migrate(server, now: 0) } == .copyUnfinished)
                    try await server.close()
                    // A server that was running all the time.
                    #expect(await storageFailure { _ = try await sealed.world.order() } == .moved)
                }
                #expect(interruptions > 20)
                let target = try open()
                #expect(try await DatabaseContent(target).differences(from: before) == [])
                #expect(try await Self.world(target, sealed).ledger.auditLog([]).findings == [])
                #expect(await storageFailure { _ = try await sealed.world.order() } == .moved)
                try await target.close()
            }
        }
    }

    @Test("Only an empty target or the unfinished copy of this source is accepted; a refusal leaves the source usable")
    func targets() async throws {
        struct Interruption: Error {}
        try await SealedWorld.with { sealed in
            try await sealed.write(3)
            _ = try await sealed.sealing.round()
            let source = try Self.source(sealed)
            let used = try SQLiteDatabase(path: sealed.path("used.sqlite"))
            _ = try await LedgerWorld(used)
            let foreign = try SQLiteDatabase(path: sealed.path("foreign.sqlite"))
            try await foreign.write { _ = try $0.execute("CREATE TABLE notes (note TEXT PRIMARY KEY)", []) }
            for target in [used, foreign, source] {
                let code = await Self.code { _ = try await Self.copy(sealed, from: source, to: target).run() }
                #expect(code == .targetNotEmpty)
                try await sealed.write(1)
                _ = try await sealed.sealing.round()
            }
            // Two targets are begun; the first does not belong to the source any more.
            let targets = try ["one", "two"].map { try SQLiteDatabase(path: sealed.path($0)) }
            for target in targets {
                _ = await #expect(throws: Interruption.self) {
                    try await Self.copy(sealed, from: source, to: target).run { _ in throw Interruption() }
                }
            }
            let code = await Self.code { _ = try await Self.copy(sealed, from: source, to: targets[0]).run() }
            #expect(code == .targetNotEmpty)
            // Only its schema was created before.
            let migrated = try SQLiteDatabase(path: sealed.path("migrated"))
            try await LedgerMigrations.migrate(migrated, now: 0)
            _ = try await Self.copy(sealed, from: source, to: migrated).run()
            // An unfinished copy cannot be a source.
            let kind = await storageFailure { _ = try await Self.copy(sealed, from: targets[1], to: used).run() }
            #expect(kind == .copyUnfinished)
            // The source of a finished copy stays unchanged, so it can be copied again: a backup is restored twice.
            let again = try SQLiteDatabase(path: sealed.path("again"))
            _ = try await Self.copy(sealed, from: source, to: again).run()
            #expect(try await DatabaseContent(again).differences(from: DatabaseContent(migrated)) == [])
            let opened = try SQLiteDatabase(path: sealed.path("assay.sqlite"))
            #expect(try await LedgerCopy.reopen(opened))
            #expect(await Self.code { _ = try await LedgerCopy.reopen(opened) } == .notCopied)
            try await sealed.write(1)
            for database in targets + [used, foreign, migrated, again, opened, source] { try await database.close() }
        }
    }

    @Test("Waiting entries are sealed first; entries that cannot be sealed, another key and another log are refused")
    func sealing() async throws {
        try await SealedWorld.with { sealed in
            try await sealed.write(5)
            _ = try await sealed.sealing.round()
            try await sealed.write(2)
            let target = try SQLiteDatabase(path: sealed.path("target"))
            let other = try EntryKey.create(at: sealed.path("other.key"))
            let clock = sealed.world.clock
            let error = await #expect(throws: LogError.self) {
                try await LedgerCopy(from: sealed.database, to: target, entryKey: other) { clock.now }.run()
            }
            #expect(error?.code == .entryKeyDiffers)
            let signed = try sealed.published().checkpoint
            let wrong = Checkpoint(origin: "other", size: signed.size - 1, root: signed.root)
            let code = await Self.code {
                _ = try await LedgerCopy(
                    from: sealed.database, to: target, entryKey: sealed.entryKey, signed: [wrong]
                ) { clock.now }.run()
            }
            #expect(code == .signerDiffers)
            let outcome = try await Self.copy(sealed, from: sealed.database, to: target).run()
            #expect(outcome.leaves > signed.size)
            let world = try await Self.world(try SQLiteDatabase(path: sealed.path("target")), sealed)
            // The signer keeps using its file.
            let sealing = try LogSealing(ledger: world.ledger, signer: sealed.signer)
            #expect(try await sealing.round().checkpoint?.checkpoint.size == outcome.leaves)
            try await world.database.close()
            try await target.close()
        }
        try await SealedWorld.with { sealed in
            try await sealed.write(2)
            // Without its code, an entry is not authentic.
            try await sealed.tamper(["UPDATE journal SET mac = NULL WHERE entry_key = 2"])
            let target = try SQLiteDatabase(path: sealed.path("target"))
            let clock = sealed.world.clock
            let code = await Self.code {
                _ = try await LedgerCopy(from: sealed.database, to: target, entryKey: sealed.entryKey) { clock.now }
                    .run()
            }
            #expect(code == .pendingRefused)
            try await sealed.write(1)
            try await target.close()
        }
    }

    @Test("A target with a changed row, or a source with a changed log, never becomes a ledger", .sealed)
    func comparison() async throws {
        struct Interruption: Error {}
        try await SealedWorld.with { sealed in
            try await sealed.write(20)
            _ = try await sealed.sealing.round()
            let path = sealed.path("target")
            let target = try SQLiteDatabase(path: path)
            _ = await #expect(throws: Interruption.self) {
                try await Self.copy(sealed, from: sealed.database, to: target).run { progress in
                    if progress.step == .comparing { throw Interruption() }
                }
            }
            let attacker = try SQLiteDatabase(path: path)
            try await attacker.write { _ = try $0.execute("UPDATE orders SET quantity = 9 WHERE order_key = 7", []) }
            let code = await Self.code { _ = try await Self.copy(sealed, from: sealed.database, to: target).run() }
            #expect(code == .tablesDiffer)
            #expect(await storageFailure { try await LedgerMigrations.requireCurrent(attacker) } == .copyUnfinished)
            try await attacker.close()
            try await target.close()
        }
        try await sealed.write(20)
        _ = try await sealed.sealing.round()
        // An authentic leaf in the place of another.
        try await sealed.tamper([
            """
            UPDATE journal SET (leaf, mac) = (SELECT leaf, mac FROM journal WHERE entry_key = 3) WHERE entry_key = 5
            """
        ])
        let target = try SQLiteDatabase(path: sealed.path("target"))
        let (source, clock) = (sealed.database, sealed.world.clock)
        let code = await Self.code {
            _ = try await LedgerCopy(from: source, to: target, entryKey: sealed.entryKey) { clock.now }.run()
        }
        #expect(code == .logDiffers)
        try await target.close()
        let opened = try SQLiteDatabase(path: sealed.path("target"))
        #expect(await storageFailure { try await LedgerMigrations.requireCurrent(opened) } == .copyUnfinished)
        try await opened.close()
    }

    @Test("Each page is found by the primary key, and is read in one step without sorting", .sealed)
    func plans() async throws {
        try await sealed.write(3)
        _ = try await sealed.sealing.round()
        let recorder = RecordingDatabase(sealed.database)
        let target = try SQLiteDatabase(path: sealed.path("target"))
        var copy = try Self.copy(sealed, from: recorder, to: target)
        copy.pageRows = 1
        _ = try await copy.run()
        let pages = recorder.takeCalls().filter { $0.sql.contains(" LIMIT ?") && $0.sql.contains("WHERE (") }
        #expect(pages.count > 20)
        for page in pages {
            let plan = try await sealed.database.read(.lists) { connection in
                try connection.rows("EXPLAIN QUERY PLAN \(page.sql)", page.parameters).map { "\($0.values)" }
            }.joined()
            #expect(plan.contains("SEARCH") && !plan.contains("TEMP B-TREE"), "\(page.sql): \(plan)")
        }
        try await target.close()
    }
}
