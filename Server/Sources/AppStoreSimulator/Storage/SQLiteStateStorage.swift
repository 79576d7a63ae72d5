import EvidenceMint
import Foundation
import GRDB

/// One SQLite file, which only one simulator may open at a time.
struct SQLiteStateStorage: StateStorage {
    private let database: DatabaseQueue

    /// Opens the file, or makes it.
    /// - Throws: the errors of SQLite; `SQLITE_BUSY` if another simulator has the file open.
    init(path: String) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            // The state is in the memory of one process; a second process would overwrite it.
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
        }
        configuration.journalMode = .wal
        database = try DatabaseQueue(path: path, configuration: configuration)
        try Self.migrator.migrate(database)
        try database.writeWithoutTransaction { database in
            // The library sets NORMAL after the preparation above; a purchase that was answered must not be lost.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.execute(sql: "BEGIN EXCLUSIVE; COMMIT")
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

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: keep each thing of the store as a row of JSON") { database in
            for table in StateTable.allCases {
                try database.execute(
                    sql: """
                        CREATE TABLE \(table.rawValue) (
                            key TEXT NOT NULL PRIMARY KEY,
                            content TEXT NOT NULL CHECK (json_valid(content))
                        ) STRICT, WITHOUT ROWID
                        """)
            }
        }
        return migrator
    }
}
