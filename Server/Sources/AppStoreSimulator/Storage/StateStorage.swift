import EvidenceMint
import Foundation
import GRDB

/// Stores the simulator's state: rows of JSON in a few tables.
protocol StateStorage: Sendable {
    /// Whether anything is kept. If not, changes need not be written out.
    var keepsRows: Bool { get }
    /// All rows of all tables.
    func load() throws -> [StateTable: [String: Data]]
    /// Writes all changes or none.
    func save(_ changes: [StateChange]) throws
}

/// A row to write, or to delete if it has no content.
struct StateChange: Sendable {
    let table: StateTable
    let key: String
    let content: Data?
}

enum StateTable: String, CaseIterable, Sendable {
    case settings, apps, products, customers, transactions, subscriptions, receipts, events, evidence, notifications
}

/// Stores nothing: a simulator on this storage always begins with an empty state.
struct NoStateStorage: StateStorage {
    var keepsRows: Bool { false }
    func load() -> [StateTable: [String: Data]] { [:] }
    func save(_ changes: [StateChange]) {}
}

/// One SQLite file, which only one simulator may open at a time.
struct SQLiteStateStorage: StateStorage {
    private let database: DatabaseQueue
    var keepsRows: Bool { true }

    /// Opens the file, or creates it.
    /// - Throws: `SimulatorConfigurationError`.
    init(path: String) throws {
        do {
            database = try Self.open(path)
        } catch let error as DatabaseError {
            throw SimulatorConfigurationError.database(path, reason: Self.reason(error, path))
        }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            // The state is in the memory of one process; a second process would overwrite it.
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
        }
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        guard try queue.read({ try isOurs($0) }) else {
            throw SimulatorConfigurationError.database(
                path, reason: "is a database of another program; choose another file with --database")
        }
        try migrator.migrate(queue)
        try queue.writeWithoutTransaction { database in
            // The library sets NORMAL after the preparation above; a purchase that was answered must not be lost.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.execute(sql: "BEGIN EXCLUSIVE; COMMIT")
        }
        return queue
    }

    /// Whether the database is empty or was created by a simulator.
    private static func isOurs(_ database: Database) throws -> Bool {
        guard try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") != 0 else { return true }
        guard try database.tableExists("grdb_migrations") else { return false }
        return try String.fetchOne(
            database, sql: "SELECT identifier FROM grdb_migrations WHERE identifier = ?", arguments: [firstMigration])
            != nil
    }

    private static func reason(_ error: DatabaseError, _ path: String) -> String {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        return switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            "is in use by another program, such as a second simulator; stop it, or choose another file with --database"
        case .SQLITE_NOTADB: "is not an SQLite database; choose another file with --database"
        case .SQLITE_CANTOPEN where exists && isFolder.boolValue: "is a folder; name a file in it"
        case .SQLITE_CANTOPEN where !FileManager.default.fileExists(atPath: folder):
            "cannot be created, because the folder \(folder) does not exist"
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM:
            "cannot be written; check the permissions of the file and of its folder"
        default: "cannot be used: \(error.message ?? "SQLite error \(error.resultCode.rawValue)")"
        }
    }

    func load() throws -> [StateTable: [String: Data]] {
        try database.read { database in
            var tables: [StateTable: [String: Data]] = [:]
            for table in StateTable.allCases {
                let rows = try Row.fetchCursor(database, sql: "SELECT key, content FROM \(table.rawValue)")
                var contents: [String: Data] = [:]
                while let row = try rows.next() {
                    let content: String = row["content"]
                    contents[row["key"]] = Data(content.utf8)
                }
                tables[table] = contents
            }
            return tables
        }
    }

    func save(_ changes: [StateChange]) throws {
        guard !changes.isEmpty else { return }
        try database.write { database in
            for change in changes {
                if let content = change.content {
                    try database.cachedStatement(
                        sql: """
                            INSERT INTO \(change.table.rawValue) (key, content) VALUES (?, ?)
                            ON CONFLICT (key) DO UPDATE SET content = excluded.content
                            """
                    ).execute(arguments: [change.key, String(decoding: content, as: UTF8.self)])
                } else {
                    try database.cachedStatement(sql: "DELETE FROM \(change.table.rawValue) WHERE key = ?")
                        .execute(arguments: [change.key])
                }
            }
        }
    }

    private static let firstMigration = "1: keep each thing of the store as a row of JSON"

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration(firstMigration) { database in
            for table in StateTable.allCases {
                try database.execute(
                    sql: """
                        CREATE TABLE \(table.rawValue) (
                            key TEXT NOT NULL PRIMARY KEY, content TEXT NOT NULL CHECK (json_valid(content))
                        ) STRICT, WITHOUT ROWID
                        """)
            }
        }
        return migrator
    }
}
