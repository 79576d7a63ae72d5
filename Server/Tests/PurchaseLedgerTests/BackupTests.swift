import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Backups", .tags(.everyEngine), .folder)
struct BackupTests {
    let folder: URL = CurrentWorld.opened()

    @Test("A copy that is made under load opens, agrees with its own rebuild, and has all that was answered before")
    func underLoad() async throws {
        let (path, copy) = (folder.appending(path: "assay.sqlite").path, folder.appending(path: "copy.sqlite").path)
        let database = try SQLiteDatabase(path: path)
        let world = try await LedgerWorld(database)
        try await world.observe(try LedgerWorld.signed("900") { $0.bundleID = "com.example.second" })
        for number in 0..<100 { _ = try await world.claim("\(number)", try LedgerWorld.signed("\(number)")) }
        var progress: [SQLiteBackup.Progress] = []
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 1...4 {
                group.addTask {
                    for number in 0..<50 {
                        let id = "\(writer * 1000 + number)"
                        _ = try await world.claim(id, try LedgerWorld.signed(id))
                    }
                }
            }
            let bytes = try SQLiteBackup(of: path, to: copy).write { progress.append($0) }
            #expect(bytes > 100_000)
            try await group.waitForAll()
        }
        #expect(progress.last?.isVerifying == true && progress.count > 1)
        #expect(try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int == 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == ["assay.sqlite", "assay.sqlite-shm", "assay.sqlite-wal", "copy.sqlite"])
        let restored = try SQLiteDatabase(path: copy)
        let other = try await LedgerWorld(restored, clock: world.clock)
        try await other.requireConsistency()
        let balance = try #require(try await other.entitlement()).balance
        #expect(balance >= 100 && balance <= 300)
        #expect(try await other.submissions().count == Int(balance))
        // The copy is used as a separate database.
        _ = try await other.claim("9999", try LedgerWorld.signed("9999"))
        try await other.requireConsistency()
        try await restored.close()
        try await database.close()
    }

    @Test("A copy of rows under load is one committed state on each engine, and a complete ledger")
    func rowsUnderLoad() async throws {
        try await TestEngine.withDatabases { database in
            try await TemporaryFolder.with { folder in
                let copy = folder.appending(path: "copy.sqlite").path
                let world = try await LedgerWorld(database)
                // SQLite's check of a file once reported held evidence as damage.
                try await world.observe(try LedgerWorld.signed("900") { $0.bundleID = "com.example.second" })
                for number in 0..<40 { _ = try await world.claim("\(number)", try LedgerWorld.signed("\(number)")) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for writer in 1...4 {
                        group.addTask {
                            for number in 0..<20 {
                                let id = "\(writer * 1000 + number)"
                                _ = try await world.claim(id, try LedgerWorld.signed(id))
                            }
                        }
                    }
                    let rows = try await LedgerBackup(of: database, to: copy).write { progress in
                        #expect(progress.done <= progress.total)
                    }
                    // The 40 purchases alone; the number of others in it depends on the machine.
                    #expect(rows > 250)
                    try await group.waitForAll()
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["copy.sqlite"])
                #expect(try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int == 0o600)
                let restored = try SQLiteDatabase(path: copy)
                let other = try await LedgerWorld(restored, clock: world.clock)
                try await other.requireConsistency()
                let balance = try #require(try await other.entitlement()).balance
                #expect(balance >= 40 && balance <= 120)
                #expect(try await other.submissions().count == Int(balance))
                try await restored.close()
                let error = await #expect(throws: SQLiteBackup.Failure.self) {
                    _ = try await LedgerBackup(of: database, to: copy).write()
                }
                #expect(error?.code == "backup_file_exists")
            }
        }
    }

    @Test("A file that exists is never overwritten, and an unfinished copy never has the name of one")
    func existingFile() async throws {
        let (path, copy) = (folder.appending(path: "assay.sqlite").path, folder.appending(path: "copy.sqlite").path)
        let database = try SQLiteDatabase(path: path)
        _ = try await LedgerWorld(database)
        func code(_ backup: SQLiteBackup) -> String? {
            do {
                _ = try backup.write()
                return nil
            } catch let failure as SQLiteBackup.Failure {
                return failure.code
            } catch {
                return (error as? LedgerStorageError)?.kind.rawValue ?? "\(error)"
            }
        }
        for name in [copy, copy + ".partial"] {
            try Data("mine".utf8).write(to: URL(fileURLWithPath: name))
            #expect(code(SQLiteBackup(of: path, to: copy)) == "backup_file_exists")
            #expect(try String(contentsOfFile: name, encoding: .utf8) == "mine")
            try FileManager.default.removeItem(atPath: name)
        }
        #expect(code(SQLiteBackup(of: path, to: folder.appending(path: "no/copy").path)) == "backup_file_unusable")
        let empty = folder.appending(path: "empty.sqlite").path
        try await SQLiteDatabase(path: empty).close()
        #expect(code(SQLiteBackup(of: empty, to: copy)) == "database_schema_too_old")
        #expect(code(SQLiteBackup(of: folder.appending(path: "none").path, to: copy)) == "database_unavailable")
        #expect(code(SQLiteBackup(of: path, to: copy)) == nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.filter { $0.hasPrefix("copy") } == ["copy.sqlite"])
        try await database.close()
    }
}

@Suite("Processes", .tags(.everyEngine))
struct ProcessTests {
    private static let claims = 150

    @Test("Two processes submit the same claims to one file: each is granted once, and a rebuild is equal")
    func twoProcesses() async throws {
        try await withClaims { path, folder in
            let writers = try [0, Self.claims / 2].map { try WriterProcess(path, folder, offset: $0) }
            var lines: [String] = []
            for writer in writers {
                lines += try await writer.lines()
                #expect(writer.process.terminationStatus == 0)
            }
            #expect(lines.count == 2 * Self.claims)
            let new = lines.filter { $0.hasSuffix(" accepted new") }
            let repeated = lines.filter { $0.hasSuffix(" accepted repeated") }
            #expect(Set(new).count == Self.claims && new.count == Self.claims)
            #expect(repeated.count == Self.claims)
            try await check(path, balance: Self.claims)
        }
    }

    @Test(
        "A process that is stopped or killed loses no acknowledged write, and a rebuild is equal",
        arguments: [SIGTERM, SIGKILL])
    func killed(signal: Int32) async throws {
        try await withClaims { path, folder in
            // It sends its claims repeatedly, so that it is busy when the signal arrives, however fast the machine is.
            let writer = try WriterProcess(path, folder, offset: 0, mode: "forever")
            // At least one claim was acknowledged.
            let first = try await writer.firstLine()
            kill(writer.process.processIdentifier, signal)
            let acknowledged = try await [first] + writer.lines()
            #expect(writer.process.terminationStatus != 0)
            let granted = acknowledged.filter { $0.hasSuffix(" accepted new") }
            #expect(!granted.isEmpty)
            let database = try SQLiteDatabase(path: path)
            let world = try await LedgerWorld(database)
            let balance = Int(try await world.entitlement()?.balance ?? 0)
            // The last one may have been committed without an answer.
            #expect(balance == granted.count || balance == granted.count + 1)
            for line in granted {
                let id = String(line.prefix { $0 != " " })
                let found = try await world.submissions(SubmissionFilter(transactionID: id))
                #expect(!found.isEmpty && found.allSatisfy { $0.code == "accepted" })
            }
            try await world.requireConsistency()
            try await database.close()
            // Sending everything again grants the rest.
            #expect(try await WriterProcess(path, folder, offset: 0).lines().count == Self.claims)
            try await check(path, balance: Self.claims)
        }
    }

    private func check(_ path: String, balance: Int) async throws {
        let database = try SQLiteDatabase(path: path)
        let world = try await LedgerWorld(database)
        #expect(try await world.entitlement()?.balance == Int64(balance))
        #expect(try await world.events().count { $0 == "granted" } == balance)
        try await world.requireConsistency()
        try await database.close()
    }

    private func withClaims(_ body: (String, URL) async throws -> Void) async throws {
        try await TemporaryFolder.with { folder in
            let claims = folder.appending(path: "claims")
            try FileManager.default.createDirectory(at: claims, withIntermediateDirectories: true)
            try WriterProcess.prepare(claims, claims: Self.claims)
            let path = folder.appending(path: "assay.sqlite").path
            // The schema is created before any process writes.
            let database = try SQLiteDatabase(path: path)
            _ = try await LedgerWorld(database)
            try await database.close()
            try await body(path, claims)
        }
    }
}

extension SubmissionFilter {
    fileprivate init(transactionID: String) {
        self.init()
        self.transactionID = transactionID
    }
}
