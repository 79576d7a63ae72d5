import EvidenceMint
import Foundation
import GRDB
import PurchaseLedger
import TestSupport
import Testing

/// The guarantees of the embedded engine.
@Suite("SQLite")
struct SQLiteTests {
    private func withDatabase(
        busySeconds: Double = 5, maximumWaiting: Int = 8192, _ body: (SQLiteDatabase, String) async throws -> Void
    ) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let database = try SQLiteDatabase(path: path, busySeconds: busySeconds, maximumWaiting: maximumWaiting)
            try await body(database, path)
            try await database.close()
        }
    }

    @Test("The connection that writes is in WAL mode, and flushes each commit to the disk")
    func settings() async throws {
        try await withDatabase { database, _ async throws in
            #expect(try await database.setting("journal_mode") == "wal")
            #expect(try await database.setting("synchronous") == "2")
            #expect(try await database.setting("wal_autocheckpoint") == "12000")
        }
    }

    @Test("Writes that wait share commits, and each is answered with its own value")
    func groupCommit() async throws {
        try await withDatabase { database, _ async throws in
            try await database.write { _ = try $0.execute("CREATE TABLE t (n INTEGER PRIMARY KEY)", []) }
            let before = database.commits
            let values = try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 0..<2000 {
                    group.addTask {
                        try await database.write { connection in
                            try connection.execute("INSERT INTO t (n) VALUES (?1)", [.integer(Int64(number))])
                            return Int64(number)
                        }
                    }
                }
                return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
            }
            #expect(values.count == 2000)
            let after = database.commits
            #expect(after.writes - before.writes == 2000)
            #expect(after.transactions - before.transactions < 2000)
            print("group commit: 2000 writes in \(after.transactions - before.transactions) transactions")
        }
    }

    @Test("A failed write does not affect the others in its commit")
    func isolation() async throws {
        struct Refusal: Error {}
        try await withDatabase { database, _ async throws in
            try await database.write { _ = try $0.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, m INTEGER)", []) }
            let failures = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        do {
                            try await database.write { connection in
                                try connection.execute("INSERT INTO t (n) VALUES (?1)", [.integer(Int64(number))])
                                if number % 5 == 0 { throw Refusal() }
                                if number % 7 == 0 {
                                    try connection.execute("INSERT INTO t (n) VALUES (?1)", [.integer(Int64(number))])
                                }
                            }
                            return false
                        } catch is Refusal {
                            return true
                        } catch let error as LedgerStorageError where error.kind == .constraint {
                            return true
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            let expected = (0..<500).count { $0 % 5 == 0 || $0 % 7 == 0 }
            #expect(failures == expected)
            let rows = try await database.read(.keys) { try $0.rows("SELECT n FROM t", []) }
            #expect(rows.count == 500 - expected)
        }
    }

    @Test("Readers continue during a write, and see only committed data")
    func readers() async throws {
        try await withDatabase { database, _ async throws in
            try await database.write { _ = try $0.execute("CREATE TABLE t (n INTEGER)", []) }
            let (started, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let writing = Task {
                try await database.write { connection in
                    try connection.execute("INSERT INTO t (n) VALUES (1)", [])
                    started.signal()
                    release.wait()
                }
            }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    started.wait()
                    continuation.resume()
                }
            }
            // The write blocks the writer until it is released, so this would never end if readers waited for it.
            #expect(try await database.read(.keys) { try $0.rows("SELECT n FROM t", []).count } == 0)
            release.signal()
            try await writing.value
            #expect(try await database.read(.keys) { try $0.rows("SELECT n FROM t", []).count } == 1)
        }
    }

    @Test("More writes than may wait are refused at once, not kept")
    func overload() async throws {
        try await withDatabase(maximumWaiting: 10) { database, _ in
            let (started, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let first = Task {
                try await database.write { _ in
                    started.signal()
                    release.wait()
                }
            }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    started.wait()
                    continuation.resume()
                }
            }
            // Ten wait, so the first twenty answers are refusals; then the writer is released.
            let refused = await withTaskGroup(of: LedgerStorageError.Kind?.self) { group in
                for _ in 0..<30 {
                    group.addTask {
                        do {
                            try await database.write { _ in }
                            return nil
                        } catch {
                            return (error as? LedgerStorageError)?.kind ?? .other
                        }
                    }
                }
                var refused: [LedgerStorageError.Kind] = []
                for await kind in group {
                    if let kind { refused.append(kind) }
                    if refused.count == 20 { release.signal() }
                }
                return refused
            }
            try await first.value
            #expect(refused == Array(repeating: .overloaded, count: 20))
        }
    }

    @Test("A database of a newer version is refused, also by a ledger that was open when it was migrated")
    func newerSchema() async throws {
        try await withDatabase { database, _ async throws in
            try await LedgerMigrations.migrate(database, now: 0)
            try await LedgerMigrations.requireCurrent(database)
            try await database.write {
                _ = try $0.execute(
                    "INSERT INTO schema_migrations (number, title, applied_at) VALUES (999, 'from the future', 0)", [])
            }
            for attempt in [
                { _ = try await LedgerMigrations.migrate(database, now: 0) },
                { try await LedgerMigrations.requireCurrent(database) },
                { try await database.write { _ = try $0.execute("DELETE FROM readiness", []) } },
            ] {
                let error = await #expect(throws: LedgerStorageError.self) { try await attempt() }
                #expect(error?.kind == .schemaTooNew)
            }
        }
    }

    @Test("A database of a version before the first release is refused with an explanation, and not changed")
    func unreleasedSchema() async throws {
        try await withDatabase { database, _ async throws in
            // Such a database has other migrations under the same numbers.
            try await database.write { connection in
                for sql in [
                    "CREATE TABLE schema_migrations (number BIGINT PRIMARY KEY, title TEXT NOT NULL, applied_at BIGINT)",
                    "INSERT INTO schema_migrations VALUES (1, 'Orders, purchases, entitlements, keys and the record', 0)",
                    "INSERT INTO schema_migrations VALUES (2, 'Withdrawals', 0)",
                    "CREATE TABLE orders (order_id TEXT PRIMARY KEY)",
                ] { _ = try connection.execute(sql, []) }
            }
            for attempt in [
                { _ = try await LedgerMigrations.migrate(database, now: 0) },
                { try await LedgerMigrations.requireCurrent(database) },
            ] {
                let error = await #expect(throws: LedgerStorageError.self) { try await attempt() }
                #expect(error?.kind == .schemaUnknown)
                #expect(error?.kind.sentence.contains("name a new file") == true)
            }
            let tables = try await database.read(.keys) {
                try $0.rows("SELECT count(*) FROM sqlite_master WHERE type = 'table'", []).first?.values
            }
            #expect(tables == [.integer(2)])
        }
    }

    @Test("Migrations run once, and a database without them is noticed")
    func migrations() async throws {
        try await withDatabase { database, _ async throws in
            let error = await #expect(throws: LedgerStorageError.self) {
                try await LedgerMigrations.requireCurrent(database)
            }
            #expect(error?.kind == .schemaTooOld)
            #expect(try await LedgerMigrations.migrate(database, now: 0).map(\.number) == [1])
            #expect(try await LedgerMigrations.migrate(database, now: 0).isEmpty)
        }
    }

    @Test("A file that is not a database, and a missing folder, are refused with the reason")
    func unusable() async throws {
        try await TemporaryFolder.with { folder in
            let file = folder.appending(path: "text")
            try Data(String(repeating: "no database ", count: 1000).utf8).write(to: file)
            let corrupt = #expect(throws: LedgerStorageError.self) { try SQLiteDatabase(path: file.path) }
            #expect(corrupt?.kind == .corrupt)
            let missing = #expect(throws: LedgerStorageError.self) {
                try SQLiteDatabase(path: folder.appending(path: "no/such/folder").path)
            }
            #expect(missing?.kind == .unavailable)
        }
    }

    @Test("A full disk gives its error, accepted writes stay, and it recovers")
    func full() async throws {
        try await withDatabase { database, _ async throws in
            let world = try await LedgerWorld(database)
            // The engine's own limit has the same result code as a full file system.
            let pages = try #require(Int(try await database.setting("page_count") ?? ""))
            try await database.set("max_page_count", to: "\(pages + 12)")
            var accepted: Int64 = 0
            var kind: LedgerStorageError.Kind?
            for number in 0..<200 where kind == nil {
                do {
                    _ = try await world.claim("\(7000 + number)", try LedgerWorld.signed("\(7000 + number)"))
                    accepted += 1
                } catch let error as LedgerStorageError {
                    kind = error.kind
                }
            }
            #expect(kind == .full)
            #expect(accepted > 0)
            let probe = await #expect(throws: LedgerStorageError.self) {
                try await world.ledger.perform(ProbeReadiness())
            }
            #expect(probe?.kind == .full)
            #expect(try await world.entitlement()?.balance == accepted)
            try await database.set("max_page_count", to: "1000000")
            try await world.ledger.perform(ProbeReadiness())
            let last = try await world.claim("\(7000 + accepted)", try LedgerWorld.signed("\(7000 + accepted)"))
            #expect(last.entitlement?.balance == accepted + 1)
            try await world.requireConsistency()
        }
    }

    @Test("A read-only database gives its error, is still readable, and recovers")
    func readOnly() async throws {
        try await withDatabase { database, _ async throws in
            let world = try await LedgerWorld(database)
            let evidence = try LedgerWorld.signed("1")
            try await database.set("query_only", to: "1")
            let error = await #expect(throws: LedgerStorageError.self) { try await world.claim("1", evidence) }
            #expect(error?.kind == .readOnly)
            #expect(try await world.submissions().isEmpty)
            try await database.set("query_only", to: "0")
            #expect(try await world.claim("1", evidence).verdict == .accepted)
        }
    }

    @Test("A file locked by another process gives its error, and recovers")
    func locked() async throws {
        try await withDatabase(busySeconds: 0.1) { database, path in
            let world = try await LedgerWorld(database)
            let evidence = try LedgerWorld.signed("1")
            let (locked, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let other = try DatabaseQueue(path: path)
            async let held: Void = withCheckedThrowingContinuation { continuation in
                // A thread of its own queue may block; a thread of tasks may not.
                other.asyncWrite { database in
                    try database.execute(sql: "DELETE FROM readiness")
                    locked.signal()
                    release.wait()
                } completion: { _, result in
                    continuation.resume(with: result)
                }
            }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    locked.wait()
                    continuation.resume()
                }
            }
            let error = await #expect(throws: LedgerStorageError.self) { try await world.claim("1", evidence) }
            #expect(error?.kind == .busy)
            #expect(try await world.submissions().isEmpty)
            release.signal()
            try await held
            #expect(try await world.claim("1", evidence).verdict == .accepted)
        }
    }

    @Test("Only the owner of the process may read the file")
    func fileMode() async throws {
        try await withDatabase { _, path in
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("A crash between the write and the commit leaves nothing, and after the commit everything")
    func crash() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let database = try SQLiteDatabase(path: path)
            let world = try await LedgerWorld(database)
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            // The copy is the state of a machine after a power loss: the file and its WAL, in the middle of a
            // transaction.
            let copy = folder.appending(path: "copy.sqlite").path
            try await database.write { connection in
                try connection.execute("INSERT INTO readiness (content) VALUES (?1)", [.blob([1])])
                for suffix in ["", "-wal"] {
                    try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
                }
            }
            let found = try SQLiteDatabase(path: copy)
            #expect(try await found.read(.keys) { try $0.rows("SELECT * FROM readiness", []).count } == 0)
            let again = try await LedgerWorld(found, clock: world.clock)
            #expect(try await again.entitlement()?.balance == 1)
            try await again.requireConsistency()
            try await found.close()
            try await database.close()
        }
    }

    @Test("The rows of the journal and of evidence can be neither changed, deleted nor replaced")
    func appendOnly() async throws {
        try await withDatabase { database, _ async throws in
            let world = try await LedgerWorld(database)
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            for sql in [
                "UPDATE journal SET leaf = x'00'", "UPDATE journal SET details = x'00'", "DELETE FROM journal",
                "INSERT OR REPLACE INTO journal SELECT * FROM journal LIMIT 1", "UPDATE evidence SET size = 1",
                "UPDATE evidence SET content = x'00'", "DELETE FROM evidence",
            ] {
                let error = await #expect(throws: LedgerStorageError.self) {
                    try await database.write { _ = try $0.execute(sql, []) }
                }
                #expect(error?.kind == .constraint, "\(sql)")
            }
            // A replacement of evidence is skipped without an error, since evidence is often sent again.
            try await database.write {
                _ = try $0.execute(
                    "INSERT OR REPLACE INTO evidence (evidence_key, sha256, size, content) "
                        + "SELECT evidence_key, sha256, 1, x'00' FROM evidence", [])
            }
            try await world.requireConsistency()
            // An erasure is the only permitted change.
            try await database.write { _ = try $0.execute("UPDATE journal SET salt = NULL, details = NULL", []) }
        }
    }

    @Test("Closing answers waiting requests and refuses later ones")
    func closing() async throws {
        try await TemporaryFolder.with { folder in
            let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
            try await database.write { _ = try $0.execute("CREATE TABLE t (n INTEGER)", []) }
            let answered = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        do {
                            try await database.write {
                                _ = try $0.execute("INSERT INTO t (n) VALUES (?1)", [.integer(Int64(number))])
                            }
                            return true
                        } catch let error as LedgerStorageError where error.kind == .closed {
                            return false
                        }
                    }
                }
                group.addTask {
                    try await database.close()
                    return false
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            let again = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
            #expect(try await again.read(.keys) { try $0.rows("SELECT n FROM t", []).count } == answered)
            try await again.close()
        }
    }
}
