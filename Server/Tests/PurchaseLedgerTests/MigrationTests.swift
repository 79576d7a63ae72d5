import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// What a later release does to a database of this one, with a migration that only these tests have.
@Suite("Migrations", .tags(.everyEngine))
struct MigrationTests {
    private static let number = LedgerMigrations.current + 1
    private static let later =
        LedgerMigrations.all + [
            LedgerMigration(
                number: number, title: "A table, a column and an index for a test",
                statements: [
                    "CREATE TABLE test_notes (note_key INTEGER PRIMARY KEY, note TEXT NOT NULL)",
                    "ALTER TABLE orders ADD COLUMN test_note TEXT",
                    .sql("UPDATE orders SET test_note = 'known before'"),
                    "CREATE INDEX orders_by_test_note ON orders (test_note) WHERE test_note IS NOT NULL",
                ])
        ]

    @Test(
        "A migration runs once and keeps the rows, and servers of the version before stop writing",
        .enabled(if: TestEngine.ownsTables), arguments: TestEngine.chosen)
    func migration(engine: TestEngine) async throws {
        try await engine.withDatabase { open in
            let (older, newer) = (try open(), try open())
            let world = try await LedgerWorld(older)
            _ = try await world.order()
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            #expect(try await LedgerMigrations.migrate(newer, now: 5, to: Self.later).map(\.number) == [Self.number])
            #expect(try await LedgerMigrations.migrate(newer, now: 6, to: Self.later).isEmpty)
            try await LedgerMigrations.requireCurrent(newer, to: Self.later)
            let rows = try await newer.write { connection in
                try connection.execute("INSERT INTO test_notes (note) VALUES ('new')", [])
                return try connection.rows("SELECT test_note, note_key FROM orders, test_notes", [])
            }
            #expect(rows.map(\.values) == [[.text("known before"), .integer(engine == .sqlite ? 1 : 2)]])
            for attempt: () async throws -> Void in [
                { _ = try await world.claim("2", try LedgerWorld.signed("2")) },
                { _ = try await world.order() },
                { try await LedgerMigrations.requireCurrent(older) },
                { _ = try await LedgerMigrations.migrate(older, now: 7) },
            ] {
                #expect(await storageFailure(attempt) == .schemaTooNew)
            }
            #expect(try await world.entitlement()?.balance == 1)
            try await older.close()
            try await newer.close()
        }
    }

    @Test("A database that lacks a migration, or has another one of its number, is refused and not changed")
    func others() async throws {
        try await TestEngine.withDatabases { database in
            try await LedgerMigrations.migrate(database, now: 0)
            #expect(
                await storageFailure { try await LedgerMigrations.requireCurrent(database, to: Self.later) }
                    == .schemaTooOld
            )
            let others = LedgerMigrations.all.map {
                LedgerMigration(number: $0.number, title: "\($0.title) of others", statements: [])
            }
            for migrations in [others, others + Self.later.suffix(1)] {
                for attempt in [
                    { try await LedgerMigrations.requireCurrent(database, to: migrations) },
                    { _ = try await LedgerMigrations.migrate(database, now: 1, to: migrations) },
                ] {
                    #expect(await storageFailure(attempt) == .schemaUnknown)
                }
            }
            try await LedgerMigrations.requireCurrent(database)
        }
    }
}

/// The rights that docs/postgresql.md gives to the role of a server, and the statements that a server sends.
@Suite("Rights of the server's role", .tags(.everyEngine))
struct ServerRoleRightsTests {
    /// Folders and files whose statements run as the owner of the tables: migrations, audits, copies and backups.
    private static let ofOwner = [
        "Schema/", "Audit/", "Copy/", "Store/CopyMark.swift",
    ]

    /// The tables that the ledger's statements name after a verb, except those of the owner.
    private static func tables(after verb: String) throws -> Set<String> {
        let sources = Corpus.projectFolder.appending(path: "Server/Sources/PurchaseLedger")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { path in
            path.hasSuffix(".swift") && !ofOwner.contains { path.hasPrefix($0) }
        }
        #expect(files.count > 100)
        let pattern = try Regex("\\b\(verb) ([a-z_]+)\\b", as: (Substring, Substring).self)
        var tables: Set<String> = []
        for file in files {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            tables.formUnion(text.matches(of: pattern).map { String($0.output.1) })
        }
        return tables
    }

    @Test(
        "28.2 Every table in which a server changes rows is granted to its role in docs/postgresql.md, and DELETE on no other"
    )
    func rights() throws {
        let stored = Set(try StoredTable.all().map(\.name))
        let statements = try ServerRole.documented("assay_server").map {
            $0.replacing(/\s+/, with: " ")
        }
        #expect(statements.contains("GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO assay_server"))
        #expect(statements.contains("REVOKE INSERT, UPDATE ON schema_migrations FROM assay_server"))
        let deletion = try #require(statements.first { $0.hasPrefix("GRANT DELETE ON ") })
        let granted = deletion.dropFirst("GRANT DELETE ON ".count).split(separator: " TO ")[0].split(separator: ", ")
            .map(String.init)
        #expect(granted == granted.sorted() && Set(granted).isSubset(of: stored))
        let deleted = try Self.tables(after: "DELETE FROM")
        #expect(deleted.count > 15)
        #expect(deleted == Set(granted))
        // The other two are granted on all tables but this one.
        for verb in ["UPDATE", "INSERT INTO"] {
            #expect(try !Self.tables(after: verb).contains("schema_migrations"), "\(verb)")
        }
        #expect(try Self.tables(after: "UPDATE").intersection(stored).count > 10)
    }
}
