import PurchaseLedger
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

    private static func kind(_ body: () async throws -> Void) async -> LedgerStorageError.Kind? {
        await #expect(throws: LedgerStorageError.self) { try await body() }?.kind
    }

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
                #expect(await Self.kind(attempt) == .schemaTooNew)
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
                await Self.kind { try await LedgerMigrations.requireCurrent(database, to: Self.later) } == .schemaTooOld
            )
            let others = LedgerMigrations.all.map {
                LedgerMigration(number: $0.number, title: "\($0.title) of others", statements: [])
            }
            for migrations in [others, others + Self.later.suffix(1)] {
                for attempt in [
                    { try await LedgerMigrations.requireCurrent(database, to: migrations) },
                    { _ = try await LedgerMigrations.migrate(database, now: 1, to: migrations) },
                ] {
                    #expect(await Self.kind(attempt) == .schemaUnknown)
                }
            }
            try await LedgerMigrations.requireCurrent(database)
        }
    }
}
