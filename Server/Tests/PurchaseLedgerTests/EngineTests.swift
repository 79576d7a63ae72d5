import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// The guarantees of every engine.
@Suite("Engines", .tags(.everyEngine))
struct EngineTests {
    /// Calls the body with a database, and with a function that opens it once more.
    private static func with(
        _ engine: TestEngine,
        _ body: (any LedgerDatabase, @escaping @Sendable () throws -> any LedgerDatabase) async throws -> Void
    ) async throws {
        try await engine.withDatabase { open in
            let database = try open()
            try await body(database, open)
            try await database.close()
        }
    }

    private static func commits(_ database: any LedgerDatabase) -> (transactions: Int, writes: Int) {
        (database as? SQLiteDatabase)?.commits ?? (database as? PostgreSQLDatabase)?.commits ?? (0, 0)
    }

    @Test("Writes that wait share commits, and each is answered with its own value", arguments: TestEngine.allCases)
    func groupCommit(engine: TestEngine) async throws {
        try await Self.with(engine) { database, _ in
            try await database.write { _ = try $0.execute("CREATE TABLE t (n BIGINT PRIMARY KEY)", []) }
            let before = Self.commits(database)
            let values = try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 0..<2000 as Range<Int64> {
                    group.addTask {
                        try await database.write({ .parts([]) }) { connection in
                            try connection.execute("INSERT INTO t (n) VALUES (?1)", [.integer(number)])
                            return number
                        }
                    }
                }
                return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
            }
            let after = Self.commits(database)
            let transactions = after.transactions - before.transactions
            #expect(values.count == 2000 && after.writes - before.writes == 2000 && transactions < 2000)
            print("group commit on \(engine.rawValue): 2000 writes in \(transactions) transactions")
        }
    }

    @Test("A failed write does not affect the others in its commit", arguments: TestEngine.allCases)
    func isolation(engine: TestEngine) async throws {
        struct Refusal: Error {}
        try await Self.with(engine) { database, _ in
            try await database.write { _ = try $0.execute("CREATE TABLE t (n BIGINT PRIMARY KEY, m BIGINT)", []) }
            let failures = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<500 as Range<Int64> {
                    group.addTask {
                        do {
                            try await database.write({ .parts([]) }) { connection in
                                try connection.execute("INSERT INTO t (n) VALUES (?1)", [.integer(number)])
                                if number % 5 == 0 { throw Refusal() }
                                // PostgreSQL does not await its result, and the error is thrown by the commit.
                                let repeated = "INSERT INTO t (n) VALUES (?1)"
                                if number % 7 == 0 { try connection.send(to: "t", repeated, [.integer(number)]) }
                            }
                            return 0
                        } catch is Refusal {
                            return 1
                        } catch let error as LedgerStorageError where error.kind == .constraint {
                            return 1
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            let expected = (0..<500).count { $0 % 5 == 0 || $0 % 7 == 0 }
            #expect(failures == expected)
            let rows = try await database.read(.keys) { try $0.rows("SELECT n FROM t", []) }
            #expect(rows.count == 500 - expected)
        }
    }

    @Test(
        "The rows of the journal, of evidence and of the log can be neither changed, deleted, replaced nor truncated",
        arguments: TestEngine.allCases)
    func appendOnly(engine: TestEngine) async throws {
        try await Self.with(engine) { database, _ in
            let world = try await LedgerWorld(database)
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            let own = [
                TestEngine.sqlite: ["INSERT OR REPLACE INTO journal SELECT * FROM journal LIMIT 1"],
                .postgresql: [
                    "INSERT INTO journal SELECT * FROM journal LIMIT 1", "TRUNCATE journal",
                    "TRUNCATE evidence CASCADE", "TRUNCATE log_entries", "TRUNCATE log_tiles",
                ],
            ]
            for sql in [
                "UPDATE journal SET leaf = x'00'", "UPDATE journal SET details = x'00'", "DELETE FROM journal",
                "UPDATE evidence SET size = 1", "UPDATE evidence SET content = x'00'", "DELETE FROM evidence",
            ] + (own[engine] ?? []) {
                let kind = await storageFailure { try await database.write { try $0.execute(sql, []) } }
                #expect(kind == .constraint, "\(sql)")
            }
            // A replacement of evidence is skipped without an error, since evidence is often sent again.
            if engine == .sqlite {
                try await database.write {
                    _ = try $0.execute(
                        "INSERT OR REPLACE INTO evidence (evidence_key, sha256, size, content) "
                            + "SELECT evidence_key, sha256, 1, x'00' FROM evidence", [])
                }
            }
            try await world.requireConsistency()
            // An erasure is the only permitted change.
            try await database.write { _ = try $0.execute("UPDATE journal SET salt = NULL, details = NULL", []) }
        }
    }

    @Test(
        "A database of a newer version is refused, and an older server stops writing when a newer schema or rules appear",
        arguments: TestEngine.allCases)
    func newerSchema(engine: TestEngine) async throws {
        try await Self.with(engine) { database, open in
            let old = try await LedgerWorld(database)
            _ = try await old.claim("1", try LedgerWorld.signed("1"))
            // A newer release is another process with its own connection.
            let new = try open()
            try await new.write {
                _ = try $0.execute(
                    "INSERT INTO schema_migrations (number, title, applied_at) VALUES (999, 'from the future', 0)", [])
            }
            for attempt: () async throws -> Void in [
                { _ = try await LedgerMigrations.migrate(database, now: 0) },
                { try await LedgerMigrations.requireCurrent(database) },
                { _ = try await old.claim("2", try LedgerWorld.signed("2")) }, { _ = try await old.order() },
                { try await database.write { _ = try $0.execute("DELETE FROM readiness", []) } },
                { try await old.ledger.perform(ProbeReadiness()) },
            ] {
                #expect(await storageFailure { try await attempt() } == .schemaTooNew)
            }
            #expect(try await old.entitlement()?.balance == 1)
            try await new.write {
                _ = try $0.execute("DELETE FROM schema_migrations WHERE number = 999", [])
                _ = try $0.execute("INSERT INTO rules (version, entry_key) VALUES (99, 1)", [])
            }
            let error = await failure(LedgerStorageError.self) { try await old.order() }
            #expect(error?.kind == .rulesTooNew && error?.detail.contains("version 99 of the rules") == true)
            try await new.write { _ = try $0.execute("DELETE FROM rules WHERE version = 99", []) }
            #expect(try await old.claim("2", try LedgerWorld.signed("2")).verdict == .accepted)
            try await new.close()
        }
    }

    @Test(
        "Migrations of several servers at the same time run once, and a database without them is noticed",
        arguments: TestEngine.allCases)
    func migrations(engine: TestEngine) async throws {
        try await Self.with(engine) { database, open in
            #expect(await storageFailure { try await LedgerMigrations.requireCurrent(database) } == .schemaTooOld)
            let run = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let database = try open()
                        let run = try await LedgerMigrations.migrate(database, now: 0).map(\.number)
                        try await database.close()
                        return run
                    }
                }
                return try await group.reduce([], +)
            }
            #expect(run == LedgerMigrations.all.map(\.number) && run == [1])
            #expect(try await LedgerMigrations.migrate(database, now: 0).isEmpty)
        }
    }
}
