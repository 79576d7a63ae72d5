import Foundation

/// The statements of SQLite that are not portable.
struct SQLiteDialect: LedgerDialect {
    /// The portable types are SQLite's own.
    func definition(_ sql: String) -> String { sql }

    /// Everything except the tables that SQLite itself creates, and the indexes of unique columns, which have no SQL
    /// because the tables define them. A name that begins with `sqlite_` says nothing: with `writable_schema` a trigger
    /// can have one.
    var schemaQuery: String {
        """
        SELECT type, name, sql FROM sqlite_master WHERE NOT (type = 'index' AND sql IS NULL)
        AND NOT (type = 'table'
        AND name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat2', 'sqlite_stat3', 'sqlite_stat4')
        AND substr(sql, 1, length(name) + 14) = 'CREATE TABLE ' || name || '(')
        ORDER BY type, name
        """
    }

    /// `INSERT OR REPLACE` deletes the old row without running the trigger for deletions, so the trigger for insertions
    /// looks for a row with the same key.
    func appendOnly(_ rule: AppendOnlyRule) -> [String] {
        let table = rule.table
        let refusal = "BEGIN SELECT RAISE(ABORT, '\(table) is append-only'); END"
        let exists = rule.keys.map { "EXISTS (SELECT 1 FROM \(table) WHERE \($0) = NEW.\($0))" }
        let changed =
            rule.columns.map { "NEW.\($0) IS NOT OLD.\($0)" }
            + rule.erasable.map { "(NEW.\($0) IS NOT NULL AND NEW.\($0) IS NOT OLD.\($0))" }
            + rule.refillable.map {
                "(NEW.\($0) IS NOT NULL AND OLD.\($0) IS NOT NULL AND NEW.\($0) IS NOT OLD.\($0))"
            }
        return [
            """
            CREATE TRIGGER \(table)_no_update BEFORE UPDATE ON \(table) WHEN \(changed.joined(separator: " OR "))
            \(refusal)
            """,
            "CREATE TRIGGER \(table)_no_delete BEFORE DELETE ON \(table) \(refusal)",
            """
            CREATE TRIGGER \(table)_no_replace BEFORE INSERT ON \(table) WHEN \(exists.joined(separator: " OR "))
            \(rule.ignoresDuplicates ? "BEGIN SELECT RAISE(IGNORE); END" : refusal)
            """,
        ]
    }

    /// Each table is checked in a transaction of its own, so that the WAL does not grow behind all of them.
    func indexDifferences(_ database: any LedgerDatabase) async throws -> [String] {
        let tables = try await database.read(.lists) { connection in
            try Self.texts(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name", connection)
        }
        var differences: [String] = []
        for table in tables {
            let name = table.replacing("'", with: "''")
            do {
                differences += try await database.read(.lists) { connection in
                    try Self.texts("PRAGMA integrity_check('\(name)')", connection).filter { $0 != "ok" }
                        .map { "\(table): \($0)" }
                }
            } catch let error as LedgerStorageError where error.kind == .corrupt {
                differences.append("\(table): \(error.detail)")
            }
        }
        let references = try await database.read(.lists) { connection in
            try connection.rows("PRAGMA foreign_key_check", []).map(\.values)
        }
        return differences + references.map { "a row refers to one that does not exist: \($0)" }
    }

    private static func texts(
        _ sql: String, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [String] {
        var texts: [String] = []
        for row in try connection.rows(sql, []) {
            var reader = row.reader
            texts.append(try reader.text())
        }
        return texts
    }
}

extension SQLiteDialect {
    func has(table: String, _ connection: any LedgerConnection) throws(LedgerStorageError) -> Bool {
        try !connection.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?1", [.text(table)]
        ).isEmpty
    }

    /// The file is on this machine, and each connection of Assay waits until the disk has what was written.
    func condition(
        _ connection: any LedgerConnection, schema: Int64?
    ) throws(LedgerStorageError) -> DatabaseCondition {
        let rows = try connection.rows(
            "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()", [])
        guard var reader = rows.first?.reader else { throw LedgerStorageError(.other, "the size is not known") }
        return DatabaseCondition(
            schema: schema, bytes: try reader.integer(), writeAheadBytes: try writeAheadBytes(connection), time: nil,
            unsafeSettings: [], isReadOnly: false)
    }

    /// The log is in a file beside the database; it is absent while nothing was written.
    private func writeAheadBytes(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Int64 {
        let rows = try connection.rows("SELECT file FROM pragma_database_list() WHERE name = 'main'", [])
        guard var reader = rows.first?.reader else { return 0 }
        let path = try reader.text() + "-wal"
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}
