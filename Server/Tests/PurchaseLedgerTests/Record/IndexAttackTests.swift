import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Indexes that do not have the rows of their tables: whoever finds a row by its key finds another one than whoever
/// reads the table.
@Suite("Indexes that differ from their tables", .tags(.everyEngine), .folder)
struct IndexAttackTests {
    var place: ThrowawayPostgreSQL.Database { CurrentWorld.opened() }
    let folder: URL = CurrentWorld.opened()

    private static let identity = "environment, transaction_id, xcode_second"

    /// Opens the file, changes it in one transaction, and closes it, so that the next connection reads the schema
    /// again.
    private static func change(_ path: String, _ statements: [String]) async throws {
        let database = try SQLiteDatabase(path: path)
        try await database.write { connection in
            for sql in statements { _ = try connection.rows(sql, []) }
        }
        try await database.close()
    }

    private static func swap(_ first: String, _ second: String) -> [String] {
        [
            "UPDATE transactions SET transaction_id = 'x' WHERE transaction_id = '\(first)'",
            "UPDATE transactions SET transaction_id = '\(first)' WHERE transaction_id = '\(second)'",
            "UPDATE transactions SET transaction_id = '\(second)' WHERE transaction_id = 'x'",
        ]
    }

    /// Makes the unique index of transactions find each of two transactions under the id of the other one. The table
    /// itself is right.
    private static func makeStale(_ path: String) async throws {
        let index = "name = 'sqlite_autoindex_transactions_1'"
        try await change(path, swap("1", "2"))
        try await change(
            path,
            [
                "PRAGMA writable_schema = ON", "CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE \(index)",
                "DELETE FROM sqlite_master WHERE \(index)",
                """
                UPDATE sqlite_master SET sql = replace(sql, 'UNIQUE (\(identity))', 'CHECK (1)')
                WHERE name = 'transactions'
                """,
            ])
        try await change(path, swap("1", "2"))
        try await change(
            path,
            [
                "PRAGMA writable_schema = ON",
                "INSERT INTO sqlite_master SELECT * FROM kept",
                """
                UPDATE sqlite_master SET sql = replace(sql, 'CHECK (1)', 'UNIQUE (\(identity))')
                WHERE name = 'transactions'
                """,
            ])
        try await change(path, ["DROP TABLE kept"])
    }

    @Test("A.3 A stale unique index that finds other rows than the table has is a finding; a rebuild has it right")
    func staleIndex() async throws {
        let path = folder.appending(path: "assay.sqlite").path
        let clock = TestClock()
        var database = try SQLiteDatabase(path: path)
        var world = try await LedgerWorld(database, clock: clock)
        _ = try await world.claim("1", customer: "alice", try LedgerWorld.signed("1") { $0.quantity = 100 })
        _ = try await world.claim("2", customer: "mallory", try LedgerWorld.signed("2"))
        try await world.requireConsistency()
        try await database.close()
        try await Self.makeStale(path)
        database = try SQLiteDatabase(path: path)
        world = try await LedgerWorld(database, clock: clock)
        // The attack works: the lookup by the id of Alice's transaction finds Mallory's row.
        let lookup = "SELECT transaction_key FROM transactions WHERE environment = 1 AND transaction_id = '1'"
        let reading = "SELECT transaction_key FROM transactions NOT INDEXED WHERE transaction_id = '1'"
        let (found, read) = try await database.read(.lists) { connection in
            (try connection.rows(lookup, []).map(\.values), try connection.rows(reading, []).map(\.values))
        }
        #expect(found != read)
        for isVerifyingEvidence in [false, true] {
            let findings = try await world.ledger.audit(isVerifyingEvidence: isVerifyingEvidence).findings
            #expect(
                findings.contains { $0.kind.rawValue == "index_differs" && $0.detail.contains("transactions") },
                "\(findings)")
        }
        try await world.rebuilt { rebuilt in
            let found = try await rebuilt.database.read(.lists) { try $0.rows(lookup, []).map(\.values) }
            #expect(found == read)
        }
        try await database.close()
    }

    @Test("A.3 A trigger whose name begins with sqlite_ is a finding")
    func hiddenTrigger() async throws {
        let path = folder.appending(path: "assay.sqlite").path
        let clock = TestClock()
        var database = try SQLiteDatabase(path: path)
        try await LedgerWorld(database, clock: clock).requireConsistency()
        try await database.close()
        try await Self.change(
            path,
            [
                "PRAGMA writable_schema = ON",
                """
                INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('trigger', 'sqlite_quiet',
                'lots', 0, 'CREATE TRIGGER sqlite_quiet AFTER INSERT ON lots BEGIN UPDATE lots SET available = 9; END')
                """,
            ])
        database = try SQLiteDatabase(path: path)
        let world = try await LedgerWorld(database, clock: clock)
        let findings = try await world.ledger.audit(isVerifyingEvidence: false).findings
        #expect(findings.map { "\($0.kind.rawValue) \($0.detail)" } == ["schema_unknown trigger sqlite_quiet"])
        try await database.close()
    }

    @Test("A row that a primary key hides is not lost in a copy or a rebuild: nothing is written")
    func hiddenRow() async throws {
        let (path, index) = (folder.appending(path: "assay.sqlite").path, "name = 'sqlite_autoindex_key_uses_1'")
        let clock = TestClock()
        var database = try SQLiteDatabase(path: path)
        _ = try await LedgerWorld(database, clock: clock).claim("1", try LedgerWorld.signed("1"))
        try await database.close()
        func define(_ former: String, _ present: String) -> String {
            "UPDATE sqlite_master SET sql = replace(sql, '\(former)', '\(present)') WHERE name = 'key_uses'"
        }
        try await Self.change(
            path,
            [
                "PRAGMA writable_schema = ON", "CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE \(index)",
                "DELETE FROM sqlite_master WHERE \(index)", define("PRIMARY KEY", "CHECK (1)"),
            ])
        try await Self.change(path, ["INSERT INTO key_uses (key_id, used_at) VALUES ('hidden', 1)"])
        try await Self.change(
            path,
            [
                "PRAGMA writable_schema = ON", "INSERT INTO sqlite_master SELECT * FROM kept",
                define("CHECK (1)", "PRIMARY KEY"),
            ])
        try await Self.change(path, ["DROP TABLE kept"])
        database = try SQLiteDatabase(path: path)
        let world = try await LedgerWorld(database, clock: clock)
        let target = folder.appending(path: "copy.sqlite").path
        let copy = await #expect(throws: SQLiteBackup.Failure.self) {
            try await LedgerBackup(of: database, to: target).write()
        }
        #expect(copy?.description.contains("key_uses has 1 rows, and its primary key 0") == true, "\(copy as Any)")
        await #expect(throws: SQLiteBackup.Failure.self) { try await world.ledger.rebuild(to: target, in: folder) }
        #expect(!FileManager.default.fileExists(atPath: target))
        try await database.close()
    }

    @Test("A.3 The statistics that ANALYZE writes are no findings")
    func statistics() async throws {
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
        let world = try await LedgerWorld(database)
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        try await database.write { _ = try $0.execute("ANALYZE", []) }
        try await world.requireConsistency()
        try await database.close()
    }

    @Test(
        "A.3 On PostgreSQL an index that finds other rows than the table has is a finding, with amcheck and without it",
        .postgreSQL, arguments: [false, true])
    func staleIndexOnPostgreSQL(hasExtension: Bool) async throws {
        let database = try PostgreSQLDatabase(url: place.url())
        let world = try await LedgerWorld(database)
        if hasExtension { try await database.write { _ = try $0.execute("CREATE EXTENSION amcheck", []) } }
        _ = try await world.claim("1", customer: "alice", try LedgerWorld.signed("1") { $0.quantity = 100 })
        _ = try await world.claim("2", customer: "mallory", try LedgerWorld.signed("2"))
        try await world.requireConsistency()
        let index = """
            (SELECT conindid FROM pg_constraint WHERE conrelid = 'transactions'::regclass AND contype = 'u')
            """
        // Each statement in a transaction of its own, because a relation's list of indexes is cached.
        let statements =
            Self.swap("1", "2") + ["UPDATE pg_index SET indislive = false WHERE indexrelid = \(index)"]
            + Self.swap("1", "2") + ["UPDATE pg_index SET indislive = true WHERE indexrelid = \(index)"]
        try await database.close()
        for sql in statements {
            let attacker = try PostgreSQLDatabase(url: place.url())
            try await attacker.write { _ = try $0.execute(sql, []) }
            try await attacker.close()
        }
        let again = try PostgreSQLDatabase(url: place.url())
        let opened = try await LedgerWorld(again, clock: world.clock)
        let findings = try await opened.ledger.audit(isVerifyingEvidence: false).findings
        #expect(
            findings.contains { $0.kind.rawValue == "index_differs" && $0.detail.contains("transactions") },
            "\(findings)")
        try await opened.rebuilt()
        try await again.close()
    }
}

@Suite("Numbers of rows that an audit names", .tags(.everyEngine), .ledger)
struct RowNumberTests {
    let world: LedgerWorld = CurrentWorld.opened()

    @Test("A.6 A changed settings_key and a changed entry_key of an account token are named")
    func numbers() async throws {
        try await world.assign(UUID(), to: LedgerWorld.customer)
        for (change, back) in [
            (
                "UPDATE settings_history SET settings_key = settings_key + 1000",
                "UPDATE settings_history SET settings_key = settings_key - 1000"
            ),
            (
                "UPDATE account_tokens SET entry_key = entry_key - 1",
                "UPDATE account_tokens SET entry_key = entry_key + 1"
            ),
        ] {
            try await world.database.write { _ = try $0.execute(change, []) }
            for isVerifyingEvidence in [false, true] {
                let findings = try await world.ledger.audit(isVerifyingEvidence: isVerifyingEvidence).findings
                #expect(findings.map(\.kind) == [.rowDiffers], "\(change): \(findings)")
            }
            try await world.database.write { _ = try $0.execute(back, []) }
        }
    }

    @Test("A.6 Recorded settings are numbered without gaps, also by several starts")
    func settings() async throws {
        var app = LedgerWorld.app()
        for days in 1...3 {
            app.products[LedgerWorld.pass] = RegisteredProduct(kind: .nonRenewing, duration: PassDuration("\(days)d"))
            _ = try await world.restarted([app])
        }
        let numbers = try await world.database.read(.lists) { connection in
            try connection.rows("SELECT settings_key FROM settings_history ORDER BY settings_key", []).map(\.values)
        }
        #expect(numbers == (1...4).map { [.integer($0)] })
        // The tables of the ledger are compared under its last settings.
        _ = try await world.restarted([LedgerWorld.app()])
    }
}
