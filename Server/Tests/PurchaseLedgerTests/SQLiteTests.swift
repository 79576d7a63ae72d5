import EvidenceMint
import Foundation
import GRDB
import PurchaseLedger
import TestSupport
import Testing

/// The guarantees of the embedded engine.
@Suite("SQLite")
struct SQLiteTests {
    var folder: URL { CurrentWorld.opened() }

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
                #expect(error?.kind == .schemaUnknown && error?.kind.sentence.contains("name a new file") == true)
            }
            let tables = try await database.read(.keys) {
                try $0.rows("SELECT count(*) FROM sqlite_master WHERE type = 'table'", []).first?.values
            }
            #expect(tables == [.integer(2)])
        }
    }

    @Test("A file that is not a database, and a missing folder, are refused with the reason", .folder)
    func unusable() async throws {
        let file = folder.appending(path: "text")
        try Data(String(repeating: "no database ", count: 1000).utf8).write(to: file)
        #expect(storageFailure { try SQLiteDatabase(path: file.path) } == .corrupt)
        #expect(
            storageFailure { try SQLiteDatabase(path: folder.appending(path: "no/such/folder").path) } == .unavailable)
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
            #expect(await storageFailure { try await world.ledger.perform(ProbeReadiness()) } == .full)
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
            #expect(await storageFailure { try await world.claim("1", evidence) } == .readOnly)
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
            #expect(await storageFailure { try await world.claim("1", evidence) } == .busy)
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

    @Test("A crash between the write and the commit leaves nothing, and after the commit everything", .folder)
    func crash() async throws {
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

    @Test("Closing answers waiting requests and refuses later ones", .folder)
    func closing() async throws {
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

/// The end of an SQLite database that is in use.
@Suite("SQLite, closed while it is used")
struct SQLiteCloseTests {
    @Test(
        "Reads during the close are answered or refused, and none gets a closed connection; a second close does nothing"
    )
    func readsDuringClose() async throws {
        for _ in 0..<20 {
            try await TemporaryFolder.with { folder in
                let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
                try await withThrowingTaskGroup(of: LedgerStorageError.Kind?.self) { group in
                    for number in 0..<48 {
                        let access = [LedgerReadAccess.keys, .statement, .lists][number % 3]
                        group.addTask {
                            do {
                                while true {
                                    _ = try await database.read(access) { connection in
                                        try connection.rows("SELECT name FROM sqlite_master", [])
                                    }
                                }
                            } catch let error as LedgerStorageError {
                                return error.kind
                            }
                        }
                    }
                    try await Task.sleep(for: .milliseconds(20))
                    try await database.close()
                    try await database.close()
                    for try await kind in group { #expect(kind == .closed) }
                }
            }
        }
    }
}
