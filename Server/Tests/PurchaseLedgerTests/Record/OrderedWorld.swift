import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// A ledger of either engine with its keys, whose journal is sealed, and an attacker who can write to its database.
struct OrderedWorld {
    let engine: TestEngine
    let database: any LedgerDatabase
    let world: LedgerWorld
    let sealing: LogSealing
    let folder: URL
    let entryKey: EntryKey
    private let signer: CheckpointSigner

    /// Calls the body with an empty world of each engine.
    static func with(
        _ change: (inout RegisteredApp) -> Void = { _ in }, _ body: (OrderedWorld) async throws -> Void
    ) async throws {
        var app = LedgerWorld.app()
        change(&app)
        for engine in TestEngine.chosen { try await withEngine(engine, [app], body) }
    }

    /// Calls the body with an empty world of one engine.
    static func withEngine(
        _ engine: TestEngine, _ apps: [RegisteredApp] = [LedgerWorld.app()],
        _ body: (OrderedWorld) async throws -> Void
    ) async throws {
        try await engine.withDatabase { open in
            try await TemporaryFolder.with { folder in
                let world = try await OrderedWorld(engine, try open(), folder, apps)
                do {
                    try await body(world)
                } catch {
                    Issue.record("on \(engine.rawValue): \(error)")
                }
                try await world.database.close()
            }
        }
    }

    init(
        _ engine: TestEngine, _ database: any LedgerDatabase, _ folder: URL, _ apps: [RegisteredApp]
    ) async throws {
        (self.engine, self.database, self.folder) = (engine, database, folder)
        entryKey = try EntryKey.openOrCreate(at: folder.appending(path: "entries.key").path)
        let signingKey = folder.appending(path: "log.key").path
        try CheckpointSigner.createKey(at: signingKey, origin: "example.com/assay")
        signer = try CheckpointSigner(keyFile: signingKey)
        world = try await LedgerWorld(database, apps: apps, entryKey: entryKey)
        sealing = try LogSealing(
            ledger: world.ledger, signer: signer,
            publishers: [CheckpointFile(path: folder.appending(path: "checkpoint").path)])
    }

    /// The kinds of all findings of `assay audit verify`, with the published checkpoint.
    func findings(isVerifyingEvidence: Bool = true) async throws -> Set<String> {
        let note = try Data(contentsOf: folder.appending(path: "checkpoint"))
        let checkpoint = try SignedCheckpoint(note: [UInt8](note), keys: [signer.verifier])
        let log = try await world.ledger.auditLog([checkpoint.checkpoint])
        let report = try await world.ledger.audit(isVerifyingEvidence: isVerifyingEvidence)
        return Set(log.findings.map(\.kind.rawValue) + report.findings.map(\.kind.rawValue))
    }

    /// The numbers of the entries of a kind, in the order in which they were written.
    func entries(_ kind: JournalKind) async throws -> [Int64] {
        try await database.read(.lists) { connection in
            var keys: [Int64] = []
            for row in try connection.rows(
                "SELECT entry_key FROM journal WHERE kind = ?1 ORDER BY entry_key", [.integer(Int64(kind.rawValue))])
            {
                if case .integer(let key) = row.values[0] { keys.append(key) }
            }
            return keys
        }
    }

    /// Exchanges the numbers of two entries, in the journal and in the log, and then runs further statements.
    func swap(_ left: Int64, _ right: Int64, _ statements: [String] = []) async throws {
        try await tamper { connection in
            for table in ["journal", "log_entries"] {
                try Self.swap(left, right, in: table, "entry_key", connection)
            }
            for sql in statements { try connection.execute(sql, []) }
        }
    }

    /// Exchanges the numbers of two entries in every table that refers to entries.
    func swapEverywhere(_ left: Int64, _ right: Int64) async throws {
        try await Self.swapEverywhere(left, right, database)
    }

    /// Exchanges the numbers of two entries in every table except some.
    static func swapEverywhere(
        _ left: Int64, _ right: Int64, besides excluded: Set<String> = [], _ database: any LedgerDatabase
    ) async throws {
        let tables = try StoredTable.all().filter { !excluded.contains($0.name) }
        try await tamper(database) { connection in
            for table in tables {
                for column in ["entry_key", "merge_entry", "answer_entry", "decision_entry"]
                where table.columns.contains(column) {
                    try Self.swap(left, right, in: table.name, column, connection)
                }
            }
        }
    }

    /// Exchanges the leaves of two entries.
    static func swapLeaves(_ left: Int64, _ right: Int64, _ database: any LedgerDatabase) async throws {
        try await tamper(database) { try swap(left, right, in: "log_entries", "entry_key", $0) }
    }

    private static func swap(
        _ left: Int64, _ right: Int64, in table: String, _ column: String, _ connection: any LedgerConnection
    ) throws {
        for (from, to) in [(left, Int64(-1)), (right, left), (-1, right)] {
            try connection.execute(
                "UPDATE \(table) SET \(column) = ?2 WHERE \(column) = ?1", [.integer(from), .integer(to)])
        }
    }

    /// Changes the database as its owner can: without the triggers, which are in place again afterwards.
    func tamper(_ change: @escaping @Sendable (any LedgerConnection) throws -> Void) async throws {
        try await Self.tamper(database, change)
    }

    private static func tamper(
        _ database: any LedgerDatabase, _ change: @escaping @Sendable (any LedgerConnection) throws -> Void
    ) async throws {
        let engine: TestEngine = database is SQLiteDatabase ? .sqlite : .postgresql
        try await database.write { connection in
            let tables = ["journal", "log_entries", "log_tiles"]
            switch engine {
            case .sqlite:
                let triggers = try connection.rows(
                    "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN "
                        + "('journal', 'log_entries', 'log_tiles')", [])
                for trigger in triggers {
                    guard case .text(let name) = trigger.values[0] else { continue }
                    try connection.execute("DROP TRIGGER \(name)", [])
                }
                try change(connection)
                for trigger in triggers {
                    guard case .text(let sql) = trigger.values[1] else { continue }
                    try connection.execute(sql, [])
                }
            case .postgresql, .postgresqlServerRole:
                for table in tables { try connection.execute("ALTER TABLE \(table) DISABLE TRIGGER USER", []) }
                try change(connection)
                for table in tables { try connection.execute("ALTER TABLE \(table) ENABLE TRIGGER USER", []) }
            }
        }
    }
}
