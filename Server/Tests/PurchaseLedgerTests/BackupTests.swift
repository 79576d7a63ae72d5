import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Backups", .tags(.everyEngine))
struct BackupTests {
    @Test("A copy that is made under load opens, agrees with its own rebuild, and has all that was answered before")
    func underLoad() async throws {
        try await TemporaryFolder.with { folder in
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
        try await TemporaryFolder.with { folder in
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
}
